import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { openPetstoreClient } from '../../src/library/petstore-client.ts';
import { laterDatabase } from '../support/later-database.ts';
import { runSql, temporaryDatabase, temporaryPostgres } from '../support/postgres.ts';
import { openShop, temporaryFolders, test } from '../support/shop.ts';
import { authorityFile } from '../support/tls.ts';

/** The first test starts the server. */
vi.setConfig({ testTimeout: 60_000 });

const secret = 'postgresql://ann:s3cretword@127.0.0.1:1/pets?connect_timeout=1';

test('the URL is a secret: readable by its owner alone, shown without its password', async ({
  shop: { run, folders },
}) => {
  const stored = await run(['config', 'set', 'state-url'], { stdin: `${secret}\n` });
  expect(stored).toMatchObject({ code: 0, stderr: expect.stringContaining('postgresql://ann:***@127.0.0.1:1/pets') });
  const file = join(folders.config, 'config.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain('s3cretword');
  const outputs = [stored, await run('config list --json'), await run('config get state-url')];
  outputs.push(await run('state info'), await run('inventory set 4 2 --debug'), await run('status'));
  outputs.push(await run('inventory get 4'), await run(['config', 'set', 'state-url', `${secret}&sslmode=bad`]));
  expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0, 5, 5, 5, 0, 2]);
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain('s3cretword');
  expect(await run('config unset state-url')).toMatchObject({ code: 0 });
  expect(await run('inventory set 4 2')).toMatchObject({ code: 0 });
});

test('a database that can’t be reached: nothing is written, and reads say what they go by', async ({
  shop: { run, service },
}) => {
  const env = { PETSTOCK_STATE_URL: secret };
  const refused = await run('inventory set 4 2', { env });
  expect(refused).toMatchObject({ code: 5, requests: [], stderr: expect.stringContaining('nothing was sent') });
  const read = await run('inventory get 4', { env });
  expect(read).toMatchObject({ code: 0, stderr: expect.stringContaining('what this machine alone knows') });
  expect(service.journal()).toHaveLength(1);
  expect(await run('inventory set 4 2', { env: { PETSTOCK_STATE_URL: 'none' } })).toMatchObject({ code: 0 });
});

test('the sandbox keeps its state on this machine', async ({ shop: { run } }) => {
  const env = { PETSTOCK_STATE_URL: secret };
  expect(await run('inventory adjust 4 +1 --env sandbox', { env })).toMatchObject({ code: 0 });
  expect((await run('history list --env sandbox', { env })).stdout).toContain('inventory adjust');
});

test('a database of another version is left alone', async () => {
  const { run, service } = await openShop({ faults: ['PATCH /inventory/6:status=401'] });
  const env = { PETSTOCK_STATE_URL: await temporaryDatabase() };
  expect(await run('state info --json', { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"engine":null'),
  });
  expect(await runSql(env.PETSTOCK_STATE_URL, `SELECT to_regclass('petstock.meta')::text AS meta`)).toEqual([
    { meta: null },
  ]);
  expect(await run('inventory get 4', { env })).toMatchObject({ code: 0 });
  const changeTo = (version: number) => runSql(env.PETSTOCK_STATE_URL, `UPDATE petstock.meta SET schema = ${version}`);
  expect(await run('inventory adjust 4 +2', { env })).toMatchObject({ code: 0 });
  expect((await run('state info --json', { env })).stdout).toMatch(/"schema":4\b.*"runs":1,"rows":1/);
  expect(await run('undo --last --yes', { env })).toMatchObject({ code: 0 });
  const broken = await run('inventory apply - --yes', { env, stdin: 'petId,delta\n4,1\n6,1\n5,1\n' });
  expect(broken.code).toBe(8);
  service.setFaults([]);
  const resumed = await run('inventory apply --resume latest --yes --json', { env });
  expect({ ...resumed, ...JSON.parse(resumed.stdout) }).toMatchObject({ code: 0, counts: { applied: 3, unknown: 0 } });
  for (const [version, words, hint] of [
    [99, 'later version', 'npm install --global petstock@latest'],
    [2, 'never released', 'petstock config set state-url'],
  ] as const) {
    await changeTo(version);
    for (const command of ['inventory set 4 2', 'state info', 'history list']) {
      const refused = await run(command, { env });
      expect(refused).toMatchObject({ code: 1, requests: [], stderr: expect.stringContaining(words) });
      expect(refused.stderr).toContain(`Hint: ${hint}`);
    }
    expect(await runSql(env.PETSTOCK_STATE_URL, 'SELECT count(*)::integer FROM petstock.runs')).toEqual([{ count: 3 }]);
  }
});

test('processes that begin a new database at once all find it whole', async ({ shop: { run } }) => {
  const env = { PETSTOCK_STATE_URL: await temporaryDatabase() };
  const results = await Promise.all([1, 2, 3, 4, 5].map(() => run('inventory get 4', { env })));
  expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', '', '', '']);
  expect(await run('state check', { env })).toMatchObject({ code: 0 });
});

test('state check looks at the stock-takes of this machine, too', async ({ shop: { run, folders } }) => {
  const env = { PETSTOCK_STATE_URL: await temporaryDatabase() };
  await run('inventory count --new --yes -q', { env, stdin: '4\n' });
  expect(await run('state check', { env })).toMatchObject({ code: 0, stderr: 'The state is sound.\n' });
  const file = join(folders.state, 'state.db');
  const cut = readFileSync(file).subarray(0, 4000);
  // Another file: SQLite may write to the one that was open once its statements are collected.
  for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) rmSync(join(folders.state, name), { force: true });
  writeFileSync(file, cut, { mode: 0o600 });
  const { code, stdout, stderr } = await run('state check --json', { env });
  expect({ code, found: JSON.parse(stdout) }).toMatchObject({ code: 1, found: { sound: false } });
  expect(stderr).toContain(file);
  expect(readFileSync(file).equals(cut)).toBe(true);
});

test('state info names the server, whose clock is off, and what weakens a promise', async ({ shop: { run } }) => {
  const env = { PETSTOCK_STATE_URL: await temporaryDatabase() };
  await run('inventory set 4 2', { env });
  const info = JSON.parse((await run('state info --json', { env })).stdout);
  expect(info).toMatchObject({ engine: expect.stringMatching(/^postgresql 1\d/), runs: 1, rows: 1 });
  expect(info.warnings).toEqual([expect.stringContaining('fsync')]);
  expect(Math.abs(info.clockAhead)).toBeGreaterThan(1000);
});

test('a wrong password, and a database that is not there, are said as such', async () => {
  const { url, port } = await temporaryPostgres({ tcp: 'plain', access: ['host all all 127.0.0.1/32 scram-sha-256'] });
  await runSql(url, `CREATE ROLE ann LOGIN PASSWORD 'right' SUPERUSER`);
  const { run } = await openShop();
  const at = (user: string, database: string) => `postgresql://${user}@127.0.0.1:${port}/${database}`;
  const get = (PETSTOCK_STATE_URL: string) => run('inventory set 4 2', { env: { PETSTOCK_STATE_URL } });
  expect(await get(at('ann:right', 'postgres'))).toMatchObject({ code: 0 });
  const wrong = await get(at('ann:wrong', 'postgres'));
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('password authentication failed') });
  expect(await get(at('ann:right', 'none'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not exist'),
  });
});

test('sslmode means what libpq means by it', async () => {
  const { port } = await temporaryPostgres({ tcp: 'tls', access: ['hostssl all all 127.0.0.1/32 trust'] });
  const { run } = await openShop();
  const by = async (parameters: string) => {
    const PETSTOCK_STATE_URL = `postgresql://postgres@127.0.0.1:${port}/postgres?${parameters}`;
    return (await run('inventory set 4 2', { env: { PETSTOCK_STATE_URL } })).code;
  };
  expect(await by('sslmode=prefer')).toBe(0);
  expect(await by('sslmode=require')).toBe(0);
  expect(await by('sslmode=disable')).toBe(1);
  expect(await by('sslmode=verify-full')).toBe(5);
  expect(await by(`sslmode=verify-ca&sslrootcert=${authorityFile}`)).toBe(0);
  expect(await by(`sslmode=verify-full&sslrootcert=${authorityFile}`)).toBe(0);
});

test('a database with settings of its own, which would cut the digits off times: it is written as everywhere', async () => {
  const url = await temporaryDatabase();
  const set = 'ALTER DATABASE %I SET extra_float_digits = -15';
  await runSql(url, `DO $$ BEGIN EXECUTE format('${set}', current_database()); END $$`);
  const { run } = await openShop();
  expect(await run('inventory adjust 4 +1', { env: { PETSTOCK_STATE_URL: url } })).toMatchObject({ code: 0 });
});

test('roles: one that may not make the schema, or not use it, is said as such; one that is granted the other does all', async () => {
  const server = await temporaryPostgres();
  const roles = ['ann', 'ben', 'guest'].map((name) => `CREATE ROLE ${name} LOGIN`);
  await runSql(server.url, ...roles, 'CREATE DATABASE pets OWNER ann');
  const { run } = await openShop();
  const as = (user: string, command: string) => {
    const PETSTOCK_STATE_URL = server.url.replace('postgres@/postgres', `${user}@/pets`);
    return run(command, { env: { PETSTOCK_STATE_URL } });
  };
  const refused = async (user: string, words: string) => {
    for (const command of ['inventory adjust 4 +1', 'inventory get 4']) {
      const result = await as(user, command);
      expect(result).toMatchObject({ code: 1, requests: [], stderr: expect.stringContaining(words) });
      expect(result.stderr).toMatch(/\(for "(SELECT schema FROM|CREATE SCHEMA)/);
      expect(result.stderr).toContain('Hint: petstock state grant --print <role>');
    }
  };
  await refused('guest', 'permission denied for database pets');
  expect(await as('ann', 'inventory adjust 4 +1')).toMatchObject({ code: 0 });
  await refused('ben', 'permission denied for schema petstock');
  await runSql(server.url, 'GRANT ann TO ben');
  expect(await as('ben', 'undo --last --yes')).toMatchObject({ code: 0 });
});

test('a server that has all of its connections is waited for, and left after 5 s', async () => {
  const server = await temporaryPostgres();
  await runSql(server.url, 'CREATE ROLE ann LOGIN CONNECTION LIMIT 1', 'CREATE DATABASE pets OWNER ann');
  const url = server.url.replace('postgres@/postgres', 'ann@/pets');
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const shop = await openShop();
  let waits = 0;
  const clock = (atWait: (number: number) => Promise<void>) => ({
    ...shop.clock,
    sleep: async (...asked: Parameters<typeof shop.clock.sleep>) => {
      waits += 1;
      await atWait(waits);
      return shop.clock.sleep(...asked);
    },
  });
  const adjust = (atWait: (number: number) => Promise<void>) =>
    shop.run('inventory adjust 4 +1', { env: { PETSTOCK_STATE_URL: url }, clock: clock(atWait) });
  const refused = await adjust(async () => {});
  expect(refused).toMatchObject({ code: 5, requests: [], stderr: expect.stringContaining('too many connections') });
  expect(refused.stderr).toContain('so nothing was sent');
  expect(waits).toBe(20);
  const isOver = async () => {
    const open = await runSql(server.url, "SELECT 1 FROM pg_stat_activity WHERE usename = 'ann'");
    expect(open).toEqual([]);
  };
  const granted = await adjust(async (number) => {
    if (number > 21) return;
    await other.end();
    await vi.waitFor(isOver, { timeout: 30_000 });
  });
  expect(granted).toMatchObject({ code: 0 });
});

test('a watch that began without the database goes by gates of others once it is back', async ({
  shop: { run, service, clock },
}) => {
  const database = await temporaryDatabase();
  const { stateUrl, listen } = await laterDatabase(database);
  vi.stubEnv('XDG_RUNTIME_DIR', (await temporaryFolders()).state);
  const other = openPetstoreClient({ baseUrl: service.url, key: service.key, clock, stateUrl: database, maxWait: 0 });
  await other.limits();
  vi.unstubAllEnvs();
  let looks = 0;
  const watched = await run('inventory watch --for 150', {
    env: { PETSTOCK_STATE_URL: stateUrl },
    around: async (send) => {
      const answer = await send();
      looks += 1;
      if (looks === 1) await listen();
      if (looks === 6) {
        service.setFaults(['GET /inventory:first=1:status=429:retry-after=120']);
        await expect(other.probe()).rejects.toMatchObject({ status: 429 });
      }
      return answer;
    },
  });
  expect(watched).toMatchObject({ code: 0, stderr: expect.stringContaining('what this machine alone knows') });
  expect(looks).toBe(6);
  await other.close();
});
