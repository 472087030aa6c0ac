import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { isRoot } from '../support/capabilities.ts';
import { openShop, type Shop, test } from '../support/shop.ts';

const secret = 'psk_of_somebody_else1';

/** Opens a shop whose configuration file contains a key. */
async function shopWithFile(): Promise<{ shop: Shop; file: string }> {
  const shop = await openShop();
  fs.mkdirSync(shop.folders.config, { mode: 0o700 });
  const file = join(shop.folders.config, 'config.json');
  const { origin } = new URL(shop.service.url);
  const config = { keys: { staging: secret }, urls: { staging: shop.service.url }, keyOrigins: { staging: origin } };
  fs.writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return { shop, file };
}

describe('an insecure configuration', () => {
  const changes: [string, (file: string) => void, string][] = [
    ['group-writable', (file) => fs.chmodSync(file, 0o660), 'others can write to it'],
    ['world-writable', (file) => fs.chmodSync(file, 0o606), 'others can write to it'],
  ];
  if (isRoot) changes.push(['of another user', (file) => fs.chownSync(file, 4321, 4321), 'uid 4321']);

  test.each(changes)(
    'refuses an insecure configuration before it sends or changes anything: %s',
    async (_name, change, words) => {
      const { shop, file } = await shopWithFile();
      change(file);
      const before = fs.statSync(file);
      for (const command of ['inventory list', 'config list', 'config set low-stock 3']) {
        const { stdout, stderr, requests } = await shop.exits(command, 1, words);
        expect({ stdout, requests }).toEqual({ stdout: '', requests: [] });
        expect(stderr).not.toContain('else1');
      }
      const { mode, uid } = fs.statSync(file);
      expect({ mode, uid }).toEqual({ mode: before.mode, uid: before.uid });
    },
  );
});

test('refuses only the commands that need a damaged configuration', async () => {
  const { shop, file } = await shopWithFile();
  await shop.run('inventory set 4 1');
  fs.writeFileSync(file, '{"settings":');
  for (const command of ['config path', 'completion bash', 'state info', 'history list']) {
    await shop.exits(command, 0, `Warning: The configuration file ${file} is not valid JSON.`);
  }
  for (const command of ['inventory list', 'config list', 'undo --last', 'history prune --keep 1', 'limits']) {
    await shop.refused(command);
  }
});

test('runs other commands with --env sandbox but refuses config commands if the configuration is damaged', async () => {
  const { shop, file } = await shopWithFile();
  fs.writeFileSync(file, '{"settings":');
  const warning = `Warning: The configuration file ${file} is not valid JSON.`;
  for (const command of ['inventory list', 'inventory set 1 5', 'status', 'limits']) {
    await shop.exits(`${command} --env sandbox`, 0, warning);
    await shop.exits(command, 0, warning, { env: { PETSTOCK_ENV: 'sandbox' } });
  }
  for (const command of ['config list', 'config set confirm always']) await shop.refused(`${command} --env sandbox`);
  expect(fs.readFileSync(file, 'utf8')).toBe('{"settings":');
});

test('keeps notes about written files private', async ({ shop }) => {
  await shop.exits(`inventory export ${join(shop.folders.config, '..', 'x.csv')}`, 0);
  const folder = join(shop.folders.state, 'written');
  const [note = ''] = fs.readdirSync(folder);
  expect([folder, join(folder, note)].map((path) => fs.statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

test.for(['group-writable', 'a symbolic link'])('does not use a state that is %s', async (kind, { shop }) => {
  await shop.run('inventory set 1 5');
  const file = join(shop.folders.state, 'state.db');
  const folders = { ...shop.folders };
  if (kind === 'group-writable') fs.chmodSync(file, 0o660);
  else {
    folders.state = join(shop.folders.state, 'linked');
    fs.mkdirSync(folders.state, { mode: 0o700 });
    fs.symlinkSync(file, join(folders.state, 'state.db'));
  }
  await shop.exits('inventory list', 0, 'Warning: ', { folders });
  for (const command of ['inventory set 1 6', 'history list']) {
    expect((await shop.exits(command, 1, [], { folders })).requests).toEqual([]);
  }
});

test('refuses a sandbox key that others can write to', async ({ shop }) => {
  await shop.run('sandbox info');
  const file = join(shop.folders.state, 'sandbox.key');
  fs.chmodSync(file, 0o666);
  const key = fs.readFileSync(file, 'utf8');
  expect(await shop.run('inventory list -e sandbox')).toMatchObject({ code: 1, requests: [] });
  expect(fs.readFileSync(file, 'utf8')).toBe(key);
});

test('accepts any folder on a system without owners and modes, such as Windows', async ({
  shop: { run, exits, folders },
}) => {
  for (const folder of Object.values(folders)) {
    fs.mkdirSync(folder);
    fs.chmodSync(folder, 0o777);
  }
  await exits('inventory adjust 4 +1', 1);
  expect((await run('config set low-stock 3')).code).not.toBe(0);
  const { geteuid } = process;
  Object.assign(process, { geteuid: undefined });
  onTestFinished(() => void Object.assign(process, { geteuid }));
  for (const command of ['config set low-stock 3', 'inventory adjust 4 +1', 'undo --last --yes'])
    await exits(command, 0);
  fs.chmodSync(join(folders.config, 'config.json'), 0o666);
  expect(await run('config get low-stock')).toMatchObject({ code: 0, stdout: '3\n' });
});

test.for([
  ['inventory', 'stock.csv'],
  ['history', 'history.ndjson'],
] as const)(
  '%s export replaces only files that petstock wrote, unless --force is given',
  async ([group, name], { shop }) => {
    await shop.run('inventory list --env sandbox');
    await shop.run('inventory set 4 9');
    const file = join(shop.folders.state, '..', name);
    const words = [group, 'export', file];
    fs.writeFileSync(file, 'hours of work\n');
    expect((await shop.refused(words)).replaceAll(/\s+/g, ' ')).toContain('may hold the only copy of its content');
    expect(fs.readFileSync(file, 'utf8')).toBe('hours of work\n');

    await shop.exits([...words, '--force'], 0);
    const written = fs.readFileSync(file, 'utf8');
    expect(written).toMatch(/petId/);
    await shop.exits(words, 0);
    expect(fs.readFileSync(file, 'utf8')).toBe(written);
    fs.appendFileSync(file, 'more work\n');
    await shop.refused(words);
    expect(fs.readFileSync(file, 'utf8')).toBe(`${written}more work\n`);
  },
);

test('suggests the same export with --force before the --, and the suggestion works', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'stock.csv');
  fs.writeFileSync(file, 'hours of work\n');
  const stderr = await shop.refused(['inventory', 'export', '--', file]);
  const hint = /Hint: petstock (.*)\n/.exec(stderr)?.[1] ?? '';
  expect(hint).toBe(`inventory export --force -- ${file}`);
  await shop.exits(hint, 0);
  expect(fs.readFileSync(file, 'utf8')).toMatch(/petId/);
});
