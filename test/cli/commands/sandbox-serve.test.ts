import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sqlite } from '../../../src/shared/sqlite-engine.ts';
import { envOf, folderOf, get, served } from '../../support/served-shop.ts';
import { portOf } from '../../support/servers.ts';
import { test } from '../../support/shop.ts';

const given = 'a-constant-key-of-ours';

test('creates the sandbox on the first sandbox info, and prints its file', async ({ shop }) => {
  const nothing = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };
  const { code, stdout, stderr } = await shop.run('sandbox info --json', { env: nothing });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const info = JSON.parse(stdout);
  expect(info).toEqual({
    file: expect.stringContaining(shop.folders.state),
    key: expect.stringMatching(/^psk_[0-9A-Za-z]{36}$/),
    plan: 'business',
    pets: 24,
  });
  expect(statSync(info.file).mode & 0o777).toBe(0o600);
  expect(statSync(shop.folders.state).mode & 0o777).toBe(0o700);
  expect(await shop.json('sandbox info --json')).toEqual(info);
});

test('sandbox serve answers at the printed URL, and says only that with --quiet', async ({ shop }) => {
  const { code, stdout, stderr } = await served(shop, '--file :memory: --pets 6 --quiet', async (line) => {
    expect(await shop.json('inventory list --json', { env: envOf(line) })).toHaveLength(6);
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Serving at .*\n$/) });
  expect(JSON.parse(stdout)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    key: expect.stringMatching(/^psk_/),
  });
});

test('keeps the stock and the key of a sandbox of 0.3.0', async ({ shop }) => {
  const { state } = shop.folders;
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(state, 'sandbox.key'), 'psk_0123456789abcdefghijklmnopqrstuvwxyz', { mode: 0o600 });
  const file = join(state, 'sandbox.db');
  const database = new (sqlite().DatabaseSync)(file);
  database.exec(readFileSync(join(import.meta.dirname, '../../support/sandbox-0.3.0.sql'), 'utf8'));
  database.close();
  const list = () => shop.run('--env sandbox inventory list');
  const stock = '1\t12\tavailable\n9007199254740993\t-7\tsold\n9223372036854775807\t0\tavailable\n';
  expect(await list()).toMatchObject({ code: 0, stdout: stock });
  expect(await shop.json('sandbox info --json')).toMatchObject({
    file,
    key: expect.stringMatching(/^psk_0123/),
    pets: 3,
  });
  await shop.exits('--env sandbox inventory set 9007199254740993 4', 0);
  expect((await list()).stdout).toBe(stock.replace('-7', '4'));
});

const anyError = /^Error: .+\n/;
const keyError = /^Error: --key must have 16 to 128 visible ASCII characters\.\n$/;
test('refuses options of sandbox serve without repeating a secret', async ({ shop }) => {
  for (const [options, message] of [
    ['--port http', anyError],
    ['--pets -1', anyError],
    ['--window-seconds 0', anyError],
    ['--fault nonsense', anyError],
    ['--host nowhere', /There is no address nowhere on this machine/],
    ['--key secret', keyError],
    [`--key ${'secret'.repeat(21)}129`, keyError],
    ['--key sixteen-secretsé', keyError],
    ['--import a.csv --pets 5', /Leave out --pets/],
    ['--min-quantity 5 --max-quantity 4', /no quantity would be accepted/],
    ['--cors shop.example', /takes an origin/],
    ['--admin-port 0', /Unknown option "--admin-port"/],
    ['--database postgres://me:secret@x/y', /Unknown option "--database"/],
    ['--tls-cert a.pem', /Unknown option "--tls-cert"/],
  ] as const) {
    const stderr = await shop.refused(`sandbox serve --port 0 ${options}`);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('secret');
  }
});

test('reports that the port is in use, and suggests port 0', async ({ shop }) => {
  const port = await portOf(createServer());
  expect(await shop.run(`sandbox serve --file :memory: --port ${port}`)).toMatchObject({
    code: 2,
    stderr: `Error: Another program uses port ${port} on 127.0.0.1.\nHint: petstock sandbox serve --port 0\n`,
  });
});

test('warns if other machines can reach sandbox serve', async ({ shop }) => {
  const exposed = await served(shop, '--file :memory: --host 0.0.0.0');
  expect(exposed).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Warning: Other machines can reach the sandbox at 0.0.0.0'),
  });
  const loopback = await served(shop, '--file :memory: --host [::1]');
  expect(loopback.stderr).not.toContain('Warning');
  expect(JSON.parse(loopback.stdout).url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
});

describe('the key of sandbox serve', () => {
  test.for([
    [`--key ${given}`, {}],
    ['', { PETSTOCK_SANDBOX_KEY: given }],
    [`--key ${given}`, { PETSTOCK_SANDBOX_KEY: 'another-key-of-ours' }],
  ] as const)('is that of --key, or of PETSTOCK_SANDBOX_KEY: %j', async ([options, env], { shop }) => {
    const look = async ({ url, key }: { readonly url: string; readonly key: string }) => {
      expect(key).toBe(given);
      expect((await get(url, given)).status).toBe(200);
    };
    const { code, stderr } = await served(shop, options, look, { env });
    expect(code).toBe(0);
    expect(stderr).toContain('The key is the one you gave.\n');
    expect(stderr).not.toContain(given);
  });

  test('is printed to stderr only on a terminal', async ({ shop }) => {
    const quiet = await served(shop, '--file :memory:');
    expect(quiet.stderr).not.toContain('psk_');
    expect(quiet.stderr).toContain('The key is shown with --json.\n');
    const terminal = { terminal: 100, terminals: ['stderr'] } as const;
    const shown = await served(shop, '--file :memory:', async () => {}, terminal);
    const line = JSON.parse(shown.stdout);
    expect(shown.stderr).toContain(`export PETSTOCK_URL_STAGING=${line.url}\n`);
    expect(shown.stderr).toContain(`export PETSTOCK_API_KEY_STAGING=${line.key}\n`);
  });

  test('has the business plan, whatever another server uses, and sandbox reset clears its usage', async ({ shop }) => {
    const left = async () => {
      let remaining: string | null = null;
      await served(shop, '', async ({ url, key }) => {
        remaining = (await get(url, key)).headers.get('x-ratelimit-remaining');
      });
      return remaining;
    };
    await shop.run('-e sandbox inventory set 1 99');
    await served(shop, '--plan free --pets 5', async (line) => {
      expect((await shop.run('inventory set 1 3', { env: envOf(line) })).stdout).toMatch(/^1\t3\t/);
      await shop.exits('-e sandbox inventory get 1', 0);
      expect(await left()).toBe('997');
    });
    const { key, ...info } = await shop.json('sandbox info --json');
    expect(info).toMatchObject({ plan: 'business', pets: 24 });
    expect((await shop.run('-e sandbox inventory get 1')).stdout).toMatch(/^1\t99\t/);
    await shop.exits('sandbox reset', 0);
    expect(await shop.json('sandbox info --json')).toMatchObject({ plan: 'business', pets: 24, key });
    // The restored stock must not be mistaken for an outdated response.
    const adjusted = await shop.exits('-e sandbox inventory adjust 1 +2', 0);
    expect(await left()).toBe('997');
    expect(adjusted.stdout).toMatch(/^1\t14\tavailable\t(?:.*\t)?12\t/);
  });
});

test('sandbox serve obeys each of its options', async ({ shop }) => {
  const limits = '--limit-minute 7 --limit-day 9 --window-seconds 2 --ban-strikes 3 --ban-seconds 9';
  const others = '--min-quantity -1 --max-quantity 5 --cors https://a.example --cors https://b.example';
  const fault = ['--fault', 'GET /store/orders:status=500', '--fault', 'GET /pets/2:status=502'];
  await served(shop, [...`--pets 6 --seed 3 --ids small ${limits} ${others}`.split(' '), ...fault], async (line) => {
    const { text, headers } = await get(line.url, line.key);
    expect(JSON.parse(text).map(({ petId }: { readonly petId: number }) => petId)).toEqual([1, 2, 3, 4, 5, 6]);
    expect([headers.get('x-ratelimit-limit'), headers.get('vary')]).toEqual(['7', 'Origin']);
    expect((await get(line.url, line.key, '/store/orders')).status).toBe(500);
    expect((await get(line.url, line.key, '/pets/2')).status).toBe(502);
    await shop.exits('inventory set 1 6', 10, 'at most 5', { env: envOf(line) });
  });
});

describe('the file of sandbox serve', () => {
  test('is not needed, nor is a state folder, with --file :memory:', async ({ shop }) => {
    expect((await served(shop, '--file :memory:')).code).toBe(0);
    expect((await served(shop, `--pets 3 --key ${given}`)).code).toBe(0);
    expect(existsSync(shop.folders.state)).toBe(false);
  });

  test('needs no key of the sandbox with --key', async ({ shop }) => {
    const file = join(folderOf(shop), 'shop.db');
    expect((await served(shop, `--file ${file} --key ${given}`)).code).toBe(0);
    expect([existsSync(file), existsSync(shop.folders.state)]).toEqual([true, false]);
  });

  test('creates missing folders of --file with mode 0700', async ({ shop }) => {
    const folder = join(shop.folders.state, 'new', 'folder');
    const { code, stderr } = await served(shop, `--file ${folder}/a.db`);
    expect({ code, stderr }).toEqual({ code: 0, stderr });
    expect([folder, join(folder, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  test('keeps its number of pets, unless it is reset', async ({ shop }) => {
    const file = join(folderOf(shop), 'kept.db');
    await served(shop, `--file ${file} --pets 6`);
    expect(await shop.refused(`sandbox serve --port 0 --file ${file} --pets 5`)).toBe(
      `Error: ${file} already has 6 pets, and --pets 5 is only for a new file. Remove the file, or choose another one.\n` +
        'Hint: petstock sandbox serve --file :memory: --pets 5\n',
    );
    const reset = await shop.json(`sandbox reset --file ${file} --pets 7 --ids small --json`);
    expect(reset).toEqual({ file, pets: 7 });
    await shop.exits('sandbox reset --file /nowhere.db', 2);
  });

  test('serves the fresh stock if the sandbox is reset while it is served', async ({ shop }) => {
    const { code } = await served(shop, '', async (line) => {
      const env = envOf(line);
      const quantity = async () => Number((await shop.run('inventory get 1', { env })).stdout.split('\t')[1]);
      expect(await quantity()).toBe(12);
      await shop.run('inventory set 1 4711', { env });
      expect(await quantity()).toBe(4711);
      await shop.run('sandbox reset');
      expect(await quantity()).toBe(12);
      await shop.run('inventory set 1 4712', { env });
      expect((await shop.run('-e sandbox inventory get 1')).stdout).toMatch(/^1\t4712\tavailable\b/);
    });
    expect(code).toBe(0);
  });

  test('is replaced by sandbox reset if it is not a database', async ({ shop }) => {
    const { file } = await shop.json('sandbox info --json');
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    writeFileSync(file, 'Feed the cats. '.repeat(100));
    await shop.exits('-e sandbox inventory list', 2, 'Hint: petstock sandbox reset\n');
    await shop.exits('sandbox reset', 0);
    expect((await shop.run('-e sandbox inventory get 1')).stdout).toMatch(/^1\t12\tavailable\b/);
  });

  test('is left alone if --file names another file', async ({ shop }) => {
    const file = join(folderOf(shop), 'notes.csv');
    writeFileSync(file, 'Feed the cats. '.repeat(100));
    const stdin = 'petId,quantity\n1,1\n';
    for (const command of ['reset', 'import -', 'serve --port 0']) {
      const { code, stderr } = await shop.run(`sandbox ${command} --file ${file}`, { stdin });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.not.stringContaining('Hint') });
    }
    expect(statSync(file).size).toBe(1_500);
  });

  test('of a later version is refused, even in a reset', async ({ shop }) => {
    const { file } = await shop.json('sandbox info --json');
    const setVersion = (version: number) => {
      const database = new (sqlite().DatabaseSync)(file);
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
    };
    setVersion(99);
    const said =
      /^Error: The sandbox can't use .*later version of petstock \(schema 99.*Use that version, or another file\.\n$/;
    for (const command of ['-e sandbox inventory list', 'sandbox reset', 'sandbox serve --port 0'])
      await shop.exits(command, 2, said);
    setVersion(6);
    await shop.exits('-e sandbox inventory get 1', 0);
  });
});

test('prints the OpenAPI document with sandbox openapi', async ({ shop }) => {
  const { code, stdout, stderr } = await shop.run('sandbox openapi');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: 'http://127.0.0.1:4010/v1' }],
    paths: { '/inventory/{petId}': { patch: { 'x-stability': 'experimental' } } },
  });
});
