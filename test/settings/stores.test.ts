import { describe, expect } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { configOf, readConfig } from '../../src/settings/config-file.ts';
import { targetName, targetWords } from '../../src/shared/hint.ts';
import fc, { property } from '../support/properties.ts';
import { changeFile, openShop, test as shopTest } from '../support/shop.ts';

const northKey = 'psk_northnorthnorth1';

/** A test with a shop whose service is also the store north, which has its own key. */
const test = shopTest.extend('north', async () => {
  const shop = await openShop();
  const url = await shop.run(`config set-url ${shop.service.url} --store north`);
  const key = await shop.run('config set-key --store north', { stdin: shop.service.key });
  expect([url.code, key.code]).toEqual([0, 0]);
  return { ...shop, stored: async () => (await readConfig(shop.folders.config)).config };
});

describe('--store', () => {
  test('records the store of --store in the configuration, the banner and the history', async ({ north }) => {
    const { url, key } = north.service;
    expect((await north.stored()).stores.north).toMatchObject({ urls: { staging: url }, keys: { staging: key } });
    const set = await north.run('inventory adjust 4 +1 --store north');
    expect(set).toMatchObject({ code: 0, stderr: expect.stringContaining(`▸ north/staging · ${url}`) });
    const [run] = await north.json('history list --json');
    expect(run).toMatchObject({ env: 'staging', store: 'north' });
    expect(await north.json('history list --store default --json')).toEqual([]);
    expect(await north.json('history list --store north --json')).toHaveLength(1);
  });

  test('prefers --store over its variable, and both over the setting', async ({ north }) => {
    const status = (options = '', env = {}) => north.json(`status --offline --json${options}`, { env });
    expect(await status(' --store north')).toMatchObject({ store: 'north' });
    expect(await status('', { PETSTOCK_STORE: 'north' })).toMatchObject({ store: 'north' });
    await north.run('config set default-store north');
    expect(await status()).toMatchObject({ store: 'north', storeSource: 'config file' });
    expect(await status(' --store default')).toMatchObject({ store: null, urlSource: 'PETSTOCK_URL_STAGING' });
  });

  test('never uses the key or the URL of another store', async ({ shop }) => {
    await shop.run(`config set-url ${shop.service.url} --store north`);
    await shop.run('config set-key', { stdin: shop.service.key });
    // Three keys exist, but none for north: two variables and the key of the unnamed store.
    const answer = await shop.run('inventory list --store north', { env: { PETSTOCK_API_KEY: shop.service.key } });
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('No API key is set for north/staging');
    expect(answer.stderr).toContain('petstock config set-key --store north --env staging');
    const unknown = await shop.refused('inventory list --store nort', { env: { PETSTOCK_API_KEY: shop.service.key } });
    expect(unknown).toContain('Unknown store "nort"');
    expect(unknown).toContain('Did you mean "north"? The only store is north.\n');
    const hintOf = async (command: string, env = {}) => (await shop.refused(command, { env })).split('Hint: ')[1];
    for (const command of ['inventory diff nort/staging sandbox', 'inventory set 4 12 --store elsewhere'])
      expect(await hintOf(command)).toBe('petstock config list\n');
    expect(await hintOf('inventory list --env prod')).toBe('petstock help environment\n');
    const env = { PETSTOCK_NORTH_API_KEY_STAGING: shop.service.key };
    const reached = await shop.run('inventory list --store north', { env });
    expect([reached.code, reached.requests.length]).toEqual([0, 1]);
  });

  test('binds the stored key of a store to its origin', async ({ north }) => {
    const other = await startService({ file: ':memory:', clock: north.clock });
    const env = { PETSTOCK_NORTH_URL_STAGING: other.url };
    const answer = await north.run('inventory list --store north', { env }).finally(() => other.close());
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('The stored key of north/staging was stored for');
  });

  test('undoes a run only in its own store', async ({ north }) => {
    await north.run('inventory adjust 4 +1 --store north');
    const [{ run }] = await north.json('history list --json');
    const elsewhere = await north.refused(`undo ${run} --yes`);
    expect(elsewhere).toContain(`Hint: petstock undo ${run} --yes --store north --env staging`);
    expect((await north.run('undo --last --yes')).stderr).toContain('Nothing to undo in staging');
    expect(await north.run('undo --last --yes --store north')).toMatchObject({ code: 0 });
  });

  test('names the store in its question about production', async ({ shop }) => {
    const where = '--store north --env production';
    await shop.run(`config set-url ${shop.service.url} ${where}`);
    await shop.run(`config set-key ${where}`, { stdin: shop.service.key });
    const written = await shop.run(`inventory apply - --format csv ${where} --yes`, { stdin: 'petId,delta\n4,1\n' });
    expect(written.stderr).toContain('▸ north/production');
    const asked: string[] = [];
    const confirm = async (question: string, typed?: string) => {
      asked.push(question);
      return typed === 'production';
    };
    const file = changeFile(shop, 'petId,quantity\n4,1\n5,2\n');
    expect(await shop.run(`inventory apply ${file} ${where}`, { terminal: 80, prompts: { confirm } })).toMatchObject({
      code: 2,
    });
    expect(asked[0]).toContain('north/production');
  });

  test("prefers a store's own setting, and lists each setting in config list", async ({ north }) => {
    await north.run('config set low-stock 7');
    await north.run('config set low-stock 2 --store north');
    const lowStock = async (options = '') => (await north.run(`config get low-stock${options}`)).stdout;
    expect([await lowStock(), await lowStock(' --store north')]).toEqual(['7\n', '2\n']);
    const { stdout } = await north.run('config list');
    expect(stdout).toContain('north/low-stock\t2\t');
    expect(stdout).toContain(`north/url.staging\t${north.service.url}\tconfig file`);
    expect(stdout).toMatch(/north\/key\.staging\t….{4}\tconfig file/);
    expect(stdout).not.toContain(north.service.key);
    expect((await north.run('config unset low-stock --store north')).code).toBe(0);
    expect(await lowStock(' --store north')).toBe('7\n');
    expect((await north.run('config set default-store north --store north')).code).toBe(2);
  });

  test('names the requested store in limits and watch even if two stores share a key', async ({ north }) => {
    await north.run('inventory list');
    await north.run('inventory list --store north');
    expect(await north.json('limits --json')).toMatchObject([{ env: 'staging' }]);
    expect(await north.json('limits --json --store north')).toMatchObject([{ env: 'staging', store: 'north' }]);
    const watch = await north.run('inventory watch --for 1 --store north');
    expect(watch.stderr).toContain('Watching 24 pets of north/staging, every 15 s.');
  });

  test.for(['staging', 'production', 'North', 'a_b', 'a/b', '-a', 'a--b', '../x', '__proto__', ''])(
    'refuses the store name %j',
    async (name, { shop }) => {
      expect(await shop.run(['config', 'set-key', `--store=${name}`], { stdin: northKey })).toMatchObject({ code: 2 });
      expect((await readConfig(shop.folders.config)).config.stores).toEqual({});
    },
  );

  test.for(['constructor', 'tostring', 'valueof'])('accepts the store name %s', async (name, { shop }) => {
    expect((await shop.run(`inventory list --store ${name}`)).code).toBe(2);
    expect((await shop.run(`config set-key --store ${name}`, { stdin: northKey })).code).toBe(0);
    expect((await shop.run(`config get key --store ${name}`)).stdout).toBe(`…${northKey.slice(-4)}\n`);
    // A store without settings is removed.
    await shop.run(`config unset-key --store ${name}`);
    expect((await readConfig(shop.folders.config)).config.stores).toEqual({});
  });

  test('refuses --store for the sandbox', async ({ shop }) => {
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
    'keeps each store independent of the others, whatever is edited',
    [fc.array(edit, { maxLength: 6 })],
    { numRuns: Number(process.env.PETSTOCK_RUNS ?? 6) },
    async (edits) => {
      const shop = await openShop();
      const model = new Map<string, string | undefined>();
      for (const { store, env, key } of edits) {
        const command = `config ${key === undefined ? 'unset-key' : 'set-key'} ${targetWords({ store, env }).join(' ')}`;
        await shop.run(command, { stdin: key });
        model.set(targetName({ store, env }), key);
      }
      const { config } = await readConfig(shop.folders.config);
      for (const store of stores) {
        const { keys } = configOf(config, store);
        for (const env of environments) expect(keys[env]).toBe(model.get(targetName({ store, env })));
      }
    },
  );
});

test('sorts stores by name in config list', async ({ shop }) => {
  for (const store of ['south', 'north', 'east']) await shop.exits(`config set low-stock 3 --store ${store}`, 0);
  const listed: readonly { readonly name: string }[] = await shop.json('config list --json');
  const stores = listed.flatMap(({ name }) => (name.endsWith('/low-stock') ? [name] : []));
  expect(stores).toEqual(['east/low-stock', 'north/low-stock', 'south/low-stock']);
});
