import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { configOf, readConfig } from '../../src/settings/config-file.ts';
import { whereName, whereOptions } from '../../src/shared/where.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { openShop, type Shop, test } from '../support/shop.ts';

const northKey = 'psk_northnorthnorth1';

/** A shop whose one service has a second name: the store north is there with a key of its own. */
async function shopWithNorth(): Promise<Shop> {
  const shop = await openShop();
  const url = await shop.run(`config set-url ${shop.service.url} --store north`);
  const key = await shop.run('config set-key --store north', { stdin: shop.service.key });
  expect([url.code, key.code]).toEqual([0, 0]);
  return shop;
}

describe('a store of its own', () => {
  test('is named in what is stored, in the banner and in the history', async () => {
    const shop = await shopWithNorth();
    expect(readConfig(shop.folders.config).config.stores.north).toMatchObject({
      urls: { staging: shop.service.url },
      keys: { staging: shop.service.key },
    });
    const set = await shop.run('inventory adjust 4 +1 --store north');
    expect(set).toMatchObject({ code: 0, stderr: expect.stringContaining(`▸ north/staging · ${shop.service.url}`) });
    const [run] = await shop.json('history list --json');
    expect(run).toMatchObject({ env: 'staging', store: 'north' });
    expect((await shop.run('history list --store default --json')).stdout.trim()).toBe('[]');
    expect(await shop.json('history list --store north --json')).toHaveLength(1);
  });

  test.each([
    ['--store north', {}],
    ['', { PETSTOCK_STORE: 'north' }],
  ])('is chosen by %j or a variable, else by the setting', async (option, env) => {
    const shop = await shopWithNorth();
    const command = `status --offline --json ${option}`.trim();
    expect(await shop.json(command, { env })).toMatchObject({ store: 'north' });
    await shop.run('config set default-store north');
    expect(await shop.json('status --offline --json')).toMatchObject({
      store: 'north',
      storeSource: 'config file',
    });
    const unnamed = await shop.json('status --offline --json --store default');
    expect(unnamed).toMatchObject({ store: null, urlSource: 'PETSTOCK_URL_STAGING' });
  });

  test('never takes the key or the URL of another store', async ({ shop }) => {
    await shop.run(`config set-url ${shop.service.url} --store north`);
    await shop.run('config set-key', { stdin: shop.service.key });
    // PETSTOCK_API_KEY and PETSTOCK_API_KEY_STAGING are set, and a key of the unnamed store is there.
    const answer = await shop.run('inventory list --store north', { env: { PETSTOCK_API_KEY: shop.service.key } });
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('No API key is known for north/staging');
    expect(answer.stderr).toContain('petstock config set-key --store north --env staging');
    const south = await shop.run('inventory list --store south', { env: { PETSTOCK_API_KEY: shop.service.key } });
    expect(south).toMatchObject({ code: 2, requests: [] });
    expect(south.stderr).toContain('Unknown store "south"');
    const reached = await shop.run('inventory list --store north', {
      env: { PETSTOCK_NORTH_API_KEY_STAGING: shop.service.key },
    });
    expect(reached.code).toBe(0);
    expect(reached.requests).toHaveLength(1);
  });

  test('one name is a letter away from another: nothing is sent, and the near one is named', async () => {
    const shop = await shopWithNorth();
    const answer = await shop.run('inventory list --store nort');
    expect(answer).toMatchObject({ code: 2, requests: [] });
    expect(answer.stderr).toContain('Did you mean "north"? There is only north.\n');
  });

  test('what one store has stored leaves the others as they are', async () => {
    const shop = await shopWithNorth();
    await shop.run('config set-key --store south', { stdin: northKey });
    const before = readConfig(shop.folders.config).config;
    await shop.run('config unset-key --store south');
    const after = readConfig(shop.folders.config).config;
    expect(before.stores.south?.keys).toEqual({ staging: northKey });
    expect(after.stores).toEqual({ north: before.stores.north });
  });

  test('a stored key of a store belongs to its origin', async () => {
    const shop = await shopWithNorth();
    const other = await startService({ file: ':memory:', clock: shop.clock });
    const env = { PETSTOCK_NORTH_URL_STAGING: other.url };
    const answer = await shop.run('inventory list --store north', { env }).finally(() => other.close());
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('The stored key of north/staging was stored for');
  });

  test('a run is resumed and undone in its own store alone', async () => {
    const shop = await shopWithNorth();
    await shop.run('inventory adjust 4 +1 --store north');
    const [{ run }] = await shop.json('history list --json');
    const elsewhere = await shop.run(`undo ${run} --yes`);
    expect(elsewhere).toMatchObject({ code: 2, requests: [] });
    expect(elsewhere.stderr).toContain(`Hint: petstock undo ${run} --store north --env staging`);
    expect((await shop.run('undo --last --yes')).stderr).toContain('There is nothing to take back in staging');
    expect(await shop.run('undo --last --yes --store north')).toMatchObject({ code: 0 });
  });

  test('the question for production wants the name of the store, too', async ({ shop }) => {
    await shop.run(`config set-url ${shop.service.url} --store north --env production`);
    await shop.run('config set-key --store north --env production', { stdin: shop.service.key });
    const asked: string[] = [];
    const answer = async (typed: string) =>
      shop.run(['inventory', 'apply', '-', '--format', 'csv', '--store', 'north', '--env', 'production', '--yes'], {
        stdin: typed,
      });
    expect((await answer('petId,delta\n4,1\n')).stderr).toContain('▸ north/production');
    const file = `${shop.folders.state}/changes.csv`;
    writeFileSync(file, 'petId,quantity\n4,1\n');
    const refused = await shop.run(['inventory', 'apply', file, '--store', 'north', '--env', 'production'], {
      terminal: 80,
      prompts: {
        text: async (question) => {
          asked.push(question);
          return 'production';
        },
      },
    });
    expect(refused.code).toBe(2);
    expect(asked[0]).toContain('north/production');
  });

  test('a setting of a store goes before that of all', async () => {
    const shop = await shopWithNorth();
    await shop.run('config set low-stock 7');
    await shop.run('config set low-stock 2 --store north');
    expect((await shop.run('config get low-stock')).stdout).toBe('7\n');
    expect((await shop.run('config get low-stock --store north')).stdout).toBe('2\n');
    expect((await shop.run('config list')).stdout).toContain('north/low-stock\t2\t');
    expect((await shop.run('config unset low-stock --store north')).code).toBe(0);
    expect((await shop.run('config get low-stock --store north')).stdout).toBe('7\n');
    expect((await shop.run('config set default-store north --store north')).code).toBe(2);
  });

  test('config list shows every store, and no key of any', async () => {
    const shop = await shopWithNorth();
    const { stdout } = await shop.run('config list');
    expect(stdout).toContain(`north/url.staging\t${shop.service.url}\tconfig file`);
    expect(stdout).toMatch(/north\/key\.staging\t….{4}\tconfig file/);
    expect(stdout).not.toContain(shop.service.key);
  });

  test('one key of two stores is called by the store that was asked for, and watch names it', async () => {
    const shop = await shopWithNorth();
    await shop.run('inventory list');
    await shop.run('inventory list --store north');
    const envOf = async (command: string) => (await shop.json(command))[0].env;
    expect(await envOf('limits --json')).toBe('staging');
    expect(await envOf('limits --json --store north')).toBe('north/staging');
    const watch = await shop.run('inventory watch --for 1 --store north');
    expect(watch.stderr).toContain('Watching 24 pets of north/staging, every 15 s.');
  });

  test.for(['staging', 'production', 'North', 'a_b', 'a/b', '-a', 'a--b', '../x', '__proto__', ''])(
    'can not be called %j',
    async (name, { shop }) => {
      expect(await shop.run(['config', 'set-key', `--store=${name}`], { stdin: northKey })).toMatchObject({ code: 2 });
      expect(readConfig(shop.folders.config).config.stores).toEqual({});
    },
  );

  test.for(['constructor', 'tostring', 'valueof'])('may be called %s', async (name, { shop }) => {
    expect((await shop.run(`inventory list --store ${name}`)).code).toBe(2);
    expect((await shop.run(`config set-key --store ${name}`, { stdin: northKey })).code).toBe(0);
    expect((await shop.run(`config get key --store ${name}`)).stdout).toBe(`…${northKey.slice(-4)}\n`);
  });

  test('the sandbox belongs to none', async () => {
    const shop = await shopWithNorth();
    expect((await shop.run('inventory list -e sandbox --store north')).code).toBe(2);
    expect((await shop.run('inventory list -e sandbox', { env: { PETSTOCK_STORE: 'north' } })).code).toBe(0);
  });

  const stores = [undefined, 'north', 'south', 'constructor'];
  const environments = ['staging', 'production'] as const;
  const edit = fc.record({
    store: fc.constantFrom(...stores),
    env: fc.constantFrom(...environments),
    key: fc.constantFrom('psk_aaaaaaaaaaaa', 'psk_bbbbbbbbbbbb', undefined),
  });

  property(
    'any sequence of edits leaves each store as if it were alone',
    [fc.array(edit, { maxLength: 6 })],
    { numRuns: Number(process.env.PETSTOCK_RUNS ?? 15) },
    async (edits) => {
      const shop = await openShop();
      const model = new Map<string, string | undefined>();
      for (const { store, env, key } of edits) {
        const command = `config ${key === undefined ? 'unset-key' : 'set-key'} ${whereOptions({ store, env })}`;
        await shop.run(command, { stdin: key });
        model.set(whereName({ store, env }), key);
      }
      const { config } = readConfig(shop.folders.config);
      for (const store of stores) {
        const { keys } = configOf(config, store);
        for (const env of environments) expect(keys[env]).toBe(model.get(whereName({ store, env })));
      }
    },
  );
});
