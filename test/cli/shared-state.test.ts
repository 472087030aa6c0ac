import { chmodSync, copyFileSync, readFileSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runSql, temporaryDatabase, temporaryPostgres } from '../support/postgres.ts';
import { portOf } from '../support/servers.ts';
import { openShop, test as shopTest, withEnv } from '../support/shop.ts';
import { authorityFile } from '../support/tls.ts';

/** The first test also starts the server. */
vi.setConfig({ testTimeout: 60_000 });

async function openSharedShop(url?: string) {
  return withEnv(await openShop(), { PETSTOCK_STATE_URL: url ?? (await temporaryDatabase()) });
}

/** A test that also has a shop whose state is in its own PostgreSQL database. */
const test = shopTest.extend('shared', () => openSharedShop());

const secret = 'postgresql://ann:s3cretword@127.0.0.1:1/pets?connect_timeout=1';

test('stores state-url privately, and never shows its password', async ({ shop: { run, exits, folders } }) => {
  const stored = await run(['config', 'set', 'state-url'], { stdin: `${secret}\n` });
  expect(stored).toMatchObject({ code: 0, stderr: expect.stringContaining('postgresql://ann:***@127.0.0.1:1/pets') });
  const file = join(folders.config, 'config.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain('s3cretword');
  const outputs = [stored, await run('config list --json'), await run('config get state-url')];
  outputs.push(await run('state info'), await run('inventory set 4 2 --debug'), await run('status'));
  outputs.push(await run('inventory get 4'), await run(['config', 'set', 'state-url', `${secret}&sslmode=bad`]));
  expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0, 5, 5, 0, 0, 2]);
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain('s3cretword');
  for (const command of ['config unset state-url', 'inventory set 4 2']) await exits(command, 0);
});

test('does not write while the database is unreachable, and warns on reads', async ({ shop }) => {
  const away = withEnv(shop, { PETSTOCK_STATE_URL: secret });
  expect((await away.exits('inventory set 4 2', 5, "can't be reached")).requests).toEqual([]);
  await away.exits('inventory get 4', 0, "can't be reached");
  expect(shop.service.journal()).toHaveLength(1);
  await shop.exits('inventory set 4 2', 0, [], { env: { PETSTOCK_STATE_URL: 'none' } });
  // The sandbox keeps its state on this machine.
  await away.exits('inventory adjust 4 +1 --env sandbox', 0);
  expect((await away.run('history list --env sandbox')).stdout).toContain('inventory adjust');
});

test('creates the tables with the first command that needs them, and refuses tables of another version', async ({
  shared,
}) => {
  const url = shared.env.PETSTOCK_STATE_URL ?? '';
  shared.service.setFaults(['PATCH /inventory/6:status=401']);
  expect((await shared.exits('state info --json', 0)).stdout).toContain('"engine":null');
  expect(await runSql(url, `SELECT to_regclass('petstock.meta')::text AS meta`)).toEqual([{ meta: null }]);
  for (const command of ['inventory get 4', 'inventory adjust 4 +2']) await shared.exits(command, 0);
  expect((await shared.run('state info --json')).stdout).toMatch(/"schema":7\b.*"runs":1,"rows":1/);
  for (const [code, said] of [[0], [9, 'only your runs on this machine']] as const)
    await shared.exits('undo --last --yes', code, said);
  await shared.exits('inventory apply - --yes', 8, [], { stdin: 'petId,delta\n4,1\n6,1\n5,1\n' });
  shared.service.setFaults([]);
  const resumed = await shared.exits('inventory apply --resume latest --yes --json', 0);
  expect(JSON.parse(resumed.stdout)).toMatchObject({ counts: { applied: 3, unknown: 0 } });
  for (const [version, words, hint] of [
    [99, 'later version', ''],
    [6, 'is that of petstock 0.3.0', 'Hint: petstock state init'],
    [2, 'before 0.3.0. Run petstock 0.3.0 once', ''],
  ] as const) {
    await runSql(url, `UPDATE petstock.meta SET schema = ${version}`);
    for (const command of ['inventory set 4 2', 'state info', 'history list']) {
      expect((await shared.exits(command, 1, [words, hint])).requests).toEqual([]);
    }
    expect(await runSql(url, 'SELECT count(*)::integer FROM petstock.runs')).toEqual([{ count: 3 }]);
  }
});

test('creates the tables even if five commands start at once', async ({ shared }) => {
  await Promise.all([1, 2, 3, 4, 5].map(() => shared.exits('inventory get 4', 0)));
  await shared.run('inventory set 4 2');
  const info = await shared.json('state info --json');
  expect(info).toMatchObject({ engine: expect.stringMatching(/^postgresql 1\d/), runs: 1, rows: 1 });
});

test('reports a wrong password or a missing database of a shared state', async ({ shop }) => {
  const { url, port } = await temporaryPostgres({ tcp: 'plain', access: ['host all all 127.0.0.1/32 scram-sha-256'] });
  await runSql(url, `CREATE ROLE ann LOGIN PASSWORD 'right' SUPERUSER`);
  for (const [place, code, said] of [
    ['ann:right@127.0.0.1:PORT/postgres', 0, ''],
    ['ann:wrong@127.0.0.1:PORT/postgres', 1, 'password authentication failed'],
    ['ann:right@127.0.0.1:PORT/none', 1, 'does not exist'],
  ] as const) {
    const env = { PETSTOCK_STATE_URL: `postgresql://${place.replace('PORT', `${port}`)}` };
    await shop.exits('inventory set 4 2', code, said, { env });
  }
});

test('interprets sslmode as libpq does, and refuses an authority file that others can write to', async ({ shop }) => {
  const { port } = await temporaryPostgres({ tcp: 'tls', access: ['hostssl all all 127.0.0.1/32 trust'] });
  for (const [parameters, code] of [
    ['sslmode=prefer', 0],
    ['sslmode=require', 0],
    ['sslmode=disable', 1],
    ['sslmode=verify-full', 5],
    [`sslmode=verify-ca&sslrootcert=${authorityFile}`, 0],
    [`sslmode=verify-full&sslrootcert=${authorityFile}`, 0],
  ] as const) {
    const env = { PETSTOCK_STATE_URL: `postgresql://postgres@127.0.0.1:${port}/postgres?${parameters}` };
    await shop.exits('inventory set 4 2', code, [], { env });
  }
  // Someone who can write the authority's file could impersonate the server.
  const open = join(shop.folders.state, '..', 'authority.pem');
  copyFileSync(authorityFile, open);
  chmodSync(open, 0o666);
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres?sslmode=verify-full&sslrootcert=${open}`;
  const env = { PETSTOCK_STATE_URL: url };
  const { requests } = await shop.exits('inventory set 4 3', 1, 'others can write to it', { env });
  expect(requests).toEqual([]);
});

test('adjusts a stock even if the database truncates floating-point digits by default', async ({ shared }) => {
  const set = 'ALTER DATABASE %I SET extra_float_digits = -15';
  const statement = `DO $$ BEGIN EXECUTE format('${set}', current_database()); END $$`;
  await runSql(shared.env.PETSTOCK_STATE_URL ?? '', statement);
  await shared.exits('inventory adjust 4 +1', 0);
});

test('reports which privilege a role lacks, and runs once the privilege is granted', async ({ shop }) => {
  const server = await temporaryPostgres();
  const roles = ['ann', 'ben', 'guest'].map((name) => `CREATE ROLE ${name} LOGIN`);
  await runSql(server.url, ...roles, 'CREATE DATABASE pets OWNER ann');
  const as = (user: string) =>
    withEnv(shop, { PETSTOCK_STATE_URL: server.url.replace('postgres@/postgres', `${user}@/pets`) });
  const refused = async (user: string, words: string) => {
    for (const command of ['inventory adjust 4 +1', 'history list']) {
      const said = [
        words,
        'Its owner gives a role USAGE on the schema petstock',
        'Hint: petstock config set state-url',
      ];
      expect((await as(user).exits(command, 1, said)).requests).toEqual([]);
    }
  };
  await as('ben').exits('state init', 1, 'permission denied for database pets');
  for (const made of [true, false]) {
    const printed = await as('ann').json('state init --json');
    const [engine, location, schema] = [expect.stringMatching(/^postgresql/), expect.any(String), expect.any(Number)];
    expect(printed).toEqual({ engine, location, schema, made });
  }
  await shop.exits('state init', 2, 'No shared state is set');
  await as('ann').exits('inventory adjust 4 +1', 0);
  await refused('ben', 'permission denied for schema petstock');
  await runSql(
    server.url.replace('/postgres?', '/pets?'),
    'GRANT USAGE ON SCHEMA petstock TO ben',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA petstock TO ben',
  );
  for (const command of ['undo --last --yes', 'history prune --keep 0 --yes']) await as('ben').exits(command, 0);
});

/** The start-up parameters that PgBouncer allows by default. */
const letThrough =
  /^(user|database|replication|client_encoding|datestyle|timezone|standard_conforming_strings|application_name)$/i;

/** Starts a server that, like PgBouncer with default settings, refuses other start-up parameters. @returns its URL */
async function poolerOf(url: string): Promise<string> {
  const [, path = '', folder = ''] = /@(\/[^?]+)\?host=(.*)$/.exec(url) ?? [];
  const server = createServer((near) => {
    const far = connect(`${decodeURIComponent(folder)}/.s.PGSQL.5432`);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).pipe(near);
    near.once('data', (first) => {
      const words = first.subarray(8).toString('latin1').split('\0');
      const refused = words.find((word, index) => index % 2 === 0 && word !== '' && !letThrough.test(word));
      if (refused === undefined) far.write(first);
      else near.end(errorMessage(`unsupported startup parameter: ${refused}`));
      near.pipe(far);
    });
  });
  return `postgresql://postgres@127.0.0.1:${await portOf(server)}${path}?sslmode=disable`;
}

/** Returns a PostgreSQL error message: `E`, its length, and fields that each begin with a letter. */
function errorMessage(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`);
  const head = Buffer.from('E....');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/**
 * Starts a server that looks like PgBouncer in transaction mode: each client gets its own process id when it connects,
 * but one backend serves all clients.
 */
async function transactionPooler() {
  const statements: string[] = [];
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', () => {
      client.write(Buffer.concat([message('R', int32(0)), message('K', int32(127), int32(1)), message('Z', 'I')]));
      client.on('data', (bytes) => {
        for (let at = 0; at < bytes.length; at += bytes.readInt32BE(at + 1) + 1) {
          if (bytes.toString('latin1', at, at + 1) !== 'Q') return client.end();
          const statement = bytes.toString('latin1', at + 5, at + bytes.readInt32BE(at + 1));
          statements.push(statement);
          client.write(
            Buffer.concat([...(/pid/.test(statement) ? rowOfPid : []), message('C', 'DONE\0'), message('Z', 'I')]),
          );
        }
      });
    });
  });
  /** `statements` lists the statements of all clients. */
  return { url: `postgresql://postgres@127.0.0.1:${await portOf(server)}/postgres?sslmode=disable`, statements };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Returns a message of the PostgreSQL protocol: a letter, a length that includes itself, and the parts. */
function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const rest = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(type), int32(rest.length + 4), rest]);
}

/** The description of one column, a 32-bit integer as text, and its row. */
const rowOfPid = [
  message('T', '\0\x01pid\0', int32(0), '\0\0', int32(23), '\0\x04', int32(-1), '\0\0'),
  message('D', '\0\x01', int32(4), '4711'),
];

test('refuses a database behind a pooler', async ({ shop }) => {
  for (const url of [await poolerOf(await temporaryDatabase()), (await transactionPooler()).url]) {
    const { requests } = await shop.exits('inventory adjust 4 +1', 1, 'is behind a pooler, such as PgBouncer', {
      env: { PETSTOCK_STATE_URL: url },
    });
    expect(requests).toEqual([]);
  }
});

test('never prints a forged run id or an impossible time from a shared state', async ({ shared }) => {
  const stdin = 'petId,quantity\n1,50\n2,50\n3,50\n';
  shared.service.setFaults(['PATCH /inventory/2:status=401']);
  await shared.exits('inventory apply - --yes', 8, [], { stdin });
  shared.service.setFaults([]);
  const url = shared.env.PETSTOCK_STATE_URL ?? '';
  const id = '20260115T120020Z-k3x9$(touch PWNED);x';
  await runSql(
    url,
    `UPDATE petstock.runs SET run = '${id}', changes = changes + 1, at = 9000000000000000000`,
    `UPDATE petstock.rows SET run = '${id}', at = 9000000000000000000`,
  );
  for (const command of [
    'history list',
    'history list --json',
    'history list -o html',
    'history export',
    'inventory apply - --yes',
    'inventory apply --resume latest',
    'undo --last --yes',
    'history show latest',
    'inventory set 1 7 --expect 50',
    'inventory adjust 2 +1',
    'state info',
    'state check',
    'history prune --keep 0 --yes',
  ]) {
    const { stdout, stderr } = await shared.run(command, { stdin });
    expect(stdout + stderr, command).not.toMatch(/PWNED|touch|bug in petstock|NaN|Invalid/);
  }
});
