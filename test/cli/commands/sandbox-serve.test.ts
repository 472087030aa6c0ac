import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sqlite } from '../../../src/shared/sqlite-engine.ts';
import { portOf } from '../../support/answering.ts';
import { databaseUrl, temporaryDatabase } from '../../support/postgres.ts';
import { envOf, folderOf, get, type ServeLine, served } from '../../support/served-shop.ts';
import { jsonLines, test } from '../../support/shop.ts';

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

test('sandbox serve answers at the printed URL, and logs nothing with --quiet', async ({ shop }) => {
  const { code, stdout, stderr } = await served(shop, '--file :memory: --pets 6 --quiet', async (line) => {
    expect(await shop.json('inventory list --json', { env: envOf(line) })).toHaveLength(6);
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    key: expect.stringMatching(/^psk_/),
    admin: null,
    adminToken: null,
  });
});

const anyError = /^Error: .+\n/;
const keyError = /^Error: --key must have 16 to 128 visible ASCII characters\.\n$/;

test.for([
  ['--port http', anyError],
  ['--pets -1', anyError],
  ['--window-seconds 0', anyError],
  ['--fault nonsense', anyError],
  ['--host nowhere', anyError],
  ['--host 0.0.0.0', /^Hint: petstock sandbox serve --host 0\.0\.0\.0 --expose\n/m],
  ['--host ::', /^Hint: petstock sandbox serve --host :: --expose\n/m],
  ['--host shop.example', /^Hint: petstock sandbox serve --host shop\.example --expose\n/m],
  ['--key secret', keyError],
  [`--key ${'secret'.repeat(21)}129`, keyError],
  ['--key sixteen-secretsé', keyError],
  ['--admin-token secret-of-16-letters', anyError],
  ['--admin-port 0 --admin-token secret', anyError],
  ['--file a.db --database postgres://x/y', /can't be used together/],
  ['--database mysql://root:secret@x/y', /^Error: --database takes an address/],
  ['--database postgres://me:secret@x,y/z?options=-c', /^Error: --database is not valid: the parameter "options"/],
  ['--import a.csv --pets 5', /Leave out --pets/],
  ['--tls-cert a.pem', /--tls-key is missing/],
  ['--trust-proxy 10.0.0.0/8/8', /takes a network/],
  ['--cors shop.example', /takes an origin/],
  ['--admin-host 127.0.0.2', /no effect without --admin-port/],
  ['--admin-port 0 --admin-host 0.0.0.0', /--admin-host 0.0.0.0 --expose/],
  ['--drain soon', /--drain takes/],
] as const)('sandbox serve %s exits with 2 without repeating a secret', async ([options, message], { shop }) => {
  const stderr = await shop.refused(`sandbox serve --port 0 ${options}`);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('secret');
});

test('sandbox serve exits with 5 if the database is unreachable, and with 2 if it is missing', async ({ shop }) => {
  const away = await shop.run('sandbox serve --port 0 --database postgres://me:secret@127.0.0.1:1/x');
  expect(away).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(
      /^Waiting up to 30 s for the database: .*ECONNREFUSED.*\nError: The database can't be used: .*ECONNREFUSED/,
    ),
  });
  expect(away.stderr).not.toMatch(/secret|petstock status/);
  const url = await temporaryDatabase();
  await shop.exits(`sandbox serve --port 0 --database ${databaseUrl(url, 'nowhere')}`, 2);
});

test.for([
  ['--log --port 0 --host 0.0.0.0', {}, /^Other machines could reach the stock at 0\.0\.0\.0/],
  ['--nonsense', { PETSTOCK_SERVE_LOG: '1' }, /^Unknown option "--nonsense"/],
  ['--port 0', { PETSTOCK_SERVE_LOG: 'true', PETSTOCK_SERVE_DRAIN: 'soon', PETSTOCK_SERVE_X: '1' }, /^--drain takes/],
] as const)('logs the error as JSON if sandbox serve %s does not start', async (row, { shop }) => {
  const [options, env, message] = row;
  const { code, stderr } = await shop.run(`sandbox serve ${options}`, { env });
  expect(code).toBe(2);
  expect(jsonLines(stderr).at(-1)).toMatchObject({
    time: expect.any(String),
    level: 'error',
    message: expect.stringMatching(message),
    exitCode: 2,
  });
});

test.for(['--port', '--admin-port'])(
  'reports that the port given with %s is in use, and suggests port 0',
  async (option, { shop }) => {
    const port = await portOf(createServer());
    expect(await shop.run(`sandbox serve --port 0 --file :memory: ${option} ${port}`)).toMatchObject({
      code: 2,
      stderr: `Error: Another program uses port ${port} on 127.0.0.1.\nHint: petstock sandbox serve ${option} 0\n`,
    });
  },
);

describe('the key of sandbox serve', () => {
  const token = 'sixteen-or-more-letters';

  test('sandbox serve accepts --key and --admin-token, and logs neither of them', async ({ shop }) => {
    const options = `--key ${given} --log --admin-port 0 --admin-token ${token}`;
    const { code, stderr } = await served(shop, options, async ({ url, key, admin, adminToken }) => {
      expect([key, adminToken]).toEqual([given, token]);
      expect((await get(url, given)).status).toBe(200);
      expect((await get(`${admin}`, token, '/health')).status).toBe(200);
    });
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/a-constant-|sixteen/);
    const lines = jsonLines(stderr);
    const message = expect.stringMatching(/^Serving at/);
    expect(lines[0]).toEqual({ time: expect.any(String), level: 'info', message });
    expect(lines).toContainEqual(expect.objectContaining({ keyPrefix: 'a-con', route: '/v1/inventory', status: 200 }));
  });

  test('sandbox serve creates a private file for --key-file once, and never prints the key', async ({ shop }) => {
    const [file, stock] = [join(folderOf(shop), 'key'), join(folderOf(shop), 'shop.db')];
    const options = `--key-file ${file} --file ${stock}`;
    const read = () => readFileSync(file, 'utf8').trim();
    const first = await served(shop, `${options} --log`, async ({ url, key }) => {
      expect(key).toBeNull();
      expect((await get(url, read())).status).toBe(200);
    });
    const before = read();
    expect(before).toMatch(/^psk_/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.stdout + first.stderr).not.toContain(before);
    expect(first.stderr).toContain(`The key is in ${file}.`);
    await served(shop, options);
    expect(read()).toBe(before);
  });

  test('sandbox serve prints export commands with the key only if stderr is a terminal', async ({ shop }) => {
    const quiet = await served(shop, '--file :memory: --admin-port 0');
    const { key, adminToken } = JSON.parse(quiet.stdout);
    expect(quiet.stderr).not.toMatch(/psk_|adm_/);
    expect(quiet.stderr).toContain('The key is shown with --json.\n');
    expect([key, adminToken]).toEqual([expect.stringMatching(/^psk_/), expect.stringMatching(/^adm_/)]);
    const terminal = { terminal: 100, terminals: ['stderr'] } as const;
    const shown = await served(shop, '--file :memory:', async () => {}, terminal);
    const line = JSON.parse(shown.stdout);
    expect(shown.stderr).toContain(`export PETSTOCK_URL_STAGING=${line.url}\n`);
    expect(shown.stderr).toContain(`export PETSTOCK_API_KEY_STAGING=${line.key}\n`);
  });
});

describe('options from variables', () => {
  test('prefers an option of sandbox serve to its variable', async ({ shop }) => {
    const env = {
      PETSTOCK_SERVE_PORT: '0',
      PETSTOCK_SERVE_PETS: '6',
      PETSTOCK_SERVE_FAULT: 'GET /store/orders:status=500',
      PETSTOCK_SERVE_LIMIT_MINUTE: '6',
      PETSTOCK_SERVE_NO_BAN: 'true',
      PETSTOCK_SERVE_PORTT: '1',
      PETSTOCK_SERVE_CORS: 'https://a.example, https://b.example',
    };
    const look = async ({ url, key }: ServeLine) => {
      const { text, headers } = await get(url, key);
      expect(JSON.parse(text)).toHaveLength(6);
      expect([headers.get('x-ratelimit-limit'), headers.get('vary')]).toEqual(['7', 'Origin']);
      expect((await get(url, key, '/store/orders')).status).toBe(500);
    };
    const { code, stderr } = await served(shop, '--limit-minute 7', look, { env });
    expect(code).toBe(0);
    expect(stderr).toContain('Warning: PETSTOCK_SERVE_PORTT was ignored: petstock sandbox serve has no such option.\n');
  });

  test('sandbox serve prefers an option to the variable of a conflicting option', async ({ shop }) => {
    const env = {
      PETSTOCK_SERVE_FILE: join(folderOf(shop), 'never.db'),
      PETSTOCK_SERVE_KEY_FILE: join(folderOf(shop), 'never.key'),
      PETSTOCK_SERVE_NO_ADDRESS_LIMIT: 'true',
      PETSTOCK_SERVE_LIMIT_MINUTE: '7',
    };
    const limitOf = async (url: string, key: string) => (await get(url, key)).headers.get('x-ratelimit-limit');
    const look = async ({ url, key }: ServeLine) => {
      expect(key).toBe(given);
      expect([await limitOf(url, given), await limitOf(url, 'no-key-of-ours-at-all')]).toEqual(['60', '9']);
    };
    const options = `--database ${await temporaryDatabase()} --key ${given} --address-limit 9 --plan free`;
    expect((await served(shop, options, look, { env })).code).toBe(0);
    expect([existsSync(env.PETSTOCK_SERVE_FILE), existsSync(env.PETSTOCK_SERVE_KEY_FILE)]).toEqual([false, false]);
    // Two conflicting variables are still refused, but a variable that is `false` conflicts with nothing.
    const both = { PETSTOCK_SERVE_KEY: given, PETSTOCK_SERVE_KEY_FILE: env.PETSTOCK_SERVE_KEY_FILE };
    expect((await shop.run('sandbox serve --port 0', { env: both })).stderr).toContain('--key and --key-file');
    const off = { PETSTOCK_SERVE_ADDRESS_LIMIT: '9', PETSTOCK_SERVE_NO_ADDRESS_LIMIT: 'false' };
    const lookAgain = async ({ url }: ServeLine) => expect(await limitOf(url, 'no-key-of-ours-at-all')).toBe('9');
    await served(shop, '--file :memory:', lookAgain, { env: off });
  });
});

describe('the file of sandbox serve', () => {
  test('creates missing folders of --file with mode 0700, and leaves existing folders unchanged', async ({ shop }) => {
    const folder = join(shop.folders.state, 'new', 'folder');
    expect((await served(shop, `--file ${folder}/a.db`)).code).toBe(0);
    expect([folder, join(folder, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    chmodSync(folder, 0o1777);
    expect((await served(shop, `--file ${folder}/b.db`)).code).toBe(0);
    expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  });

  test('sandbox serve refuses a new number of pets for an existing file, but sandbox reset accepts it', async ({
    shop,
  }) => {
    const file = join(folderOf(shop), 'kept.db');
    await served(shop, `--file ${file} --pets 6`);
    expect(await shop.refused(`sandbox serve --port 0 --file ${file} --pets 5`)).toBe(
      `Error: ${file} already has 6 pets, and --pets 5 is only for a new file. Remove the file, or choose another one.\n` +
        'Hint: petstock sandbox serve --file :memory: --pets 5\n',
    );
    const reset = await shop.json(`sandbox reset --file ${file} --pets 7 --ids small --json`);
    expect(reset).toEqual({ store: file, pets: 7 });
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
      expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t4712\tavailable\n');
    });
    expect(code).toBe(0);
  });

  test('sandbox reset replaces a sandbox file that is not a database', async ({ shop }) => {
    const { file } = await shop.json('sandbox info --json');
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    writeFileSync(file, 'Feed the cats. '.repeat(100));
    await shop.exits('-e sandbox inventory list', 2, 'Hint: petstock sandbox reset\n');
    await shop.exits('sandbox reset', 0);
    expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t12\tavailable\n');
  });

  test('sandbox commands do not print a hint if --file names a text file', async ({ shop }) => {
    const file = join(folderOf(shop), 'notes.csv');
    writeFileSync(file, 'Feed the cats. '.repeat(100));
    for (const command of ['reset', 'import -']) {
      expect(await shop.refused(`sandbox ${command} --file ${file}`)).not.toContain('Hint');
    }
  });

  test('refuses a sandbox file of a later version, even in a reset', async ({ shop }) => {
    const { file } = await shop.json('sandbox info --json');
    const change = (version: number) => {
      const database = new (sqlite().DatabaseSync)(file);
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
    };
    change(99);
    const said =
      /^Error: The sandbox can't use .*later version of petstock \(schema 99.*Use that version, or another file\.\n$/;
    for (const command of ['-e sandbox inventory list', 'sandbox reset', 'sandbox serve --port 0'])
      await shop.exits(command, 2, said);
    change(5);
    await shop.exits('-e sandbox inventory get 1', 0);
  });

  test.skipIf(process.platform === 'win32')(
    'sandbox serve refuses a device as a key or certificate file',
    async ({ shop }) => {
      // Reading a file that isn't regular, such as a pipe, might never end, and no signal would interrupt it.
      for (const options of ['--key-file /dev/null', '--tls-cert /dev/null --tls-key /dev/null']) {
        expect(await shop.refused(`sandbox serve --port 0 ${options}`)).toContain('is not a file');
      }
    },
  );
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
