import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sqlite } from '../../../src/shared/sqlite-engine.ts';
import { portOf } from '../../support/answering.ts';
import { envOf, get, type ServeLine, served } from '../../support/served-shop.ts';
import { openShop, test } from '../../support/shop.ts';

const nothing = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };

test('sandbox info makes the sandbox on first use, and says where it is', async ({ shop }) => {
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

test('sandbox reset brings the first stock back and keeps the key', async ({ shop }) => {
  const key = async () => (await shop.json('sandbox info --json')).key;
  const first = await key();
  await shop.run('-e sandbox inventory set 1 99');
  expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t99\tavailable\n');
  expect((await shop.run('sandbox reset')).code).toBe(0);
  expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t12\tavailable\n');
  expect(await key()).toBe(first);
});

test('the stock after a sandbox reset is not taken for an older answer of the service', async ({ shop }) => {
  await shop.run('-e sandbox inventory adjust 1 +1');
  await shop.run('sandbox reset');
  const result = await shop.run('-e sandbox inventory adjust 1 +2');
  expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1\t14\tavailable\t12\t/) });
});

describe('sandbox serve', () => {
  test('says where it listens, serves any client, and ends with exit 0', async ({ shop }) => {
    let items: unknown;
    const result = await served(shop, '--file :memory: --pets 6', async (line) => {
      items = await shop.json('inventory list --json', { env: envOf(line) });
    });
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
      key: expect.stringMatching(/^psk_/),
      admin: null,
      adminToken: null,
    });
    expect(items).toHaveLength(6);
  });

  test.for([
    '--port http',
    '--plan gold',
    '--pets -1',
    '--window-seconds 0',
    '--min-quantity 1e3',
    '--fault nonsense',
    '--host nowhere',
  ])('%s is exit 2', async (options, { shop }) => {
    expect(await shop.refused(`sandbox serve --port 0 ${options}`)).toMatch(/^Error: .+\n/);
  });
});

test('--file makes missing folders for this user alone, and takes others as they are', async ({ shop }) => {
  const folder = join(shop.folders.state, 'new', 'folder');
  expect((await served(shop, `--file ${folder}/a.db`)).code).toBe(0);
  expect([folder, join(folder, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  chmodSync(folder, 0o1777);
  expect((await served(shop, `--file ${folder}/b.db`)).code).toBe(0);
  expect(statSync(folder).mode & 0o7777).toBe(0o1777);
});

test('a server in memory has a key of its own, each time; another that of the sandbox', async ({ shop }) => {
  const { key } = await shop.json('sandbox info --json');
  const keys: (string | null)[] = [];
  for (const options of ['--file :memory:', '--pets 3', ''])
    await served(shop, options, async (line) => void keys.push(line.key));
  expect(new Set([...keys, key]).size).toBe(3);
  expect(keys[2]).toBe(key);
});

test('without --log nothing is logged', async ({ shop }) => {
  const { stderr } = await served(shop, '--file :memory: --quiet', async (line) => {
    await shop.run('inventory get 1', { env: envOf(line) });
  });
  expect(stderr).toBe('');
});

test.for(['0.0.0.0', '::', '192.0.2.7', 'shop.example'])('--host %s needs --expose', async (host, { shop }) => {
  expect(await shop.refused(`sandbox serve --port 0 --host ${host}`)).toContain(
    `Hint: petstock sandbox serve --host ${host} --expose\n`,
  );
});

test.for(['--host localhost', '--host 127.0.0.2', '--host 0.0.0.0 --expose'])(
  '%s is served',
  async (options, { shop }) => {
    let status = 0;
    await served(shop, `--file :memory: ${options}`, async ({ url, key }) => {
      const at = url.replace('0.0.0.0', '127.0.0.1');
      status = (await fetch(`${at}/store/orders`, { headers: { Authorization: `Bearer ${key}` } })).status;
    });
    expect(status).toBe(200);
  },
);

test('the token of the administration port is printed, and nowhere else', async ({ shop }) => {
  const look = async ({ admin, adminToken }: ServeLine) => {
    expect(adminToken).toBe('sixteen-or-more-letters');
    expect((await get(`${admin}`, adminToken, '/health')).status).toBe(200);
  };
  const options = '--file :memory: --admin-port 0 --admin-token sixteen-or-more-letters';
  const { stderr } = await served(shop, options, look);
  expect(stderr).not.toContain('sixteen');
});

test.each(['--admin-token sixteen-or-more-letters', '--admin-port 0 --admin-token short'])(
  '%s: exit 2, and the token is not repeated',
  async (options) => {
    expect(await (await openShop()).refused(`sandbox serve --port 0 ${options}`)).not.toMatch(/sixteen|short/);
  },
);

test('--file with another number of pets is refused, with how to start again', async ({ shop }) => {
  const file = join(shop.folders.state, 'kept.db');
  await served(shop, `--file ${file} --pets 6`);
  expect(await shop.refused(`sandbox serve --port 0 --file ${file} --pets 5`)).toBe(
    `Error: ${file} has 6 pets already, and --pets 5 is for a new file. Remove it to start again, or name another file.\n` +
      'Hint: petstock sandbox serve --file :memory: --pets 5\n',
  );
});

test.for(['--port', '--admin-port'])('%s that is taken is named, with what to do', async (option, { shop }) => {
  const port = await portOf(createServer());
  const { code, stderr } = await shop.run(`sandbox serve --port 0 --file :memory: ${option} ${port}`);
  expect(code).toBe(2);
  expect(stderr).toBe(
    `Error: Port ${port} on 127.0.0.1 is taken by another program.\nHint: petstock sandbox serve ${option} 0\n`,
  );
});

test('a reset while the sandbox is served: the service goes on with the fresh stock', async ({ shop }) => {
  const seen: string[] = [];
  const { code } = await served(shop, '', async (line) => {
    const env = envOf(line);
    const quantity = async () => seen.push((await shop.run('inventory get 1', { env })).stdout.trim());
    await quantity();
    await shop.run('inventory set 1 4711', { env });
    await quantity();
    await shop.run('sandbox reset');
    await quantity();
    await shop.run('inventory set 1 4712', { env });
    seen.push((await shop.run('-e sandbox inventory get 1')).stdout.trim());
  });
  expect(code).toBe(0);
  expect(seen).toEqual(['1\t12\tavailable', '1\t4711\tavailable', '1\t12\tavailable', '1\t4712\tavailable']);
});

test('a reset replaces a file that is no database at all', async ({ shop }) => {
  const { file } = await shop.json('sandbox info --json');
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  writeFileSync(file, 'Feed the cats. '.repeat(100));
  const broken = await shop.run('-e sandbox inventory list');
  expect(broken.code).toBe(2);
  expect(broken.stderr).toContain('Hint: petstock sandbox reset\n');
  expect((await shop.run('sandbox reset')).code).toBe(0);
  expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t12\tavailable\n');
});

test.for(['export', 'keys list'])('sandbox %s of a text file: no hint would destroy it', async (command, { shop }) => {
  const file = join(shop.folders.config, '..', 'notes.csv');
  writeFileSync(file, 'Feed the cats. '.repeat(100));
  const { code, stderr } = await shop.run(`sandbox ${command} --file ${file}`);
  expect([code, stderr.includes('Hint')]).toEqual([2, false]);
});

test('a sandbox of a later version: what to do is said, and a reset refuses to throw it away', async ({ shop }) => {
  const { file } = await shop.json('sandbox info --json');
  const change = (version: number) => {
    const database = new (sqlite().DatabaseSync)(file);
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
  };
  change(99);
  for (const command of ['-e sandbox inventory list', 'sandbox reset', 'sandbox keys list', 'sandbox serve --port 0']) {
    const { code, stderr } = await shop.run(command);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^Error: The sandbox can't use .*later version of petstock \(schema 99.*use that version, or another file\.\n$/,
      ),
    ]);
  }
  change(4);
  expect((await shop.run('-e sandbox inventory get 1')).code).toBe(0);
});

test('sandbox openapi prints the contract', async () => {
  const { code, stdout, stderr } = await (await openShop()).run('sandbox openapi');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: 'http://127.0.0.1:4010/v1' }],
    paths: { '/inventory/{petId}': { patch: { 'x-stability': 'experimental' } } },
  });
});
