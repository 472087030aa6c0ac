import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ServiceOptions, StorageError, seededStock } from '../../../src/service/index.ts';
import { openPostgres } from '../../../src/service/storage/postgres/postgres-storage.ts';
import { type Answer, outcome, startAt } from '../../service/support.ts';
import { runSql, temporaryDatabase, temporaryPostgres } from '../../support/postgres.ts';
import { postgresProxy } from '../../support/postgres-proxy.ts';

/** These tests wait for several timeouts of the store. */
vi.setConfig({ testTimeout: 120_000 });

type Service = Awaited<ReturnType<typeof start>>;

function start(database: string, options: Partial<ServiceOptions> = {}) {
  const limits = { minute: 1_000_000, day: 1_000_000 };
  return startAt(Date, { database, adminPort: 0, testControls: false, limits, ...options });
}

/** Starts a service and its database, which can be frozen, killed and restarted, with a proxy between them. */
async function startWithProxy() {
  const server = await temporaryPostgres();
  const proxy = await postgresProxy(server);
  return { server, proxy, service: await start(proxy.url) };
}

async function seen(answer: Promise<Answer>) {
  const { headers, text, status } = await answer;
  return { outcome: outcome({ status, text }), retryAfter: headers['retry-after'], text };
}

/** Returns the part of a message that runs a prepared statement of the store. */
const asks = (name: string) => `\0${name}\0`;

const list = (service: Service) => seen(service.get('/inventory'));
const set = (service: Service, quantity: number) => seen(service.patch('/inventory/1', JSON.stringify({ quantity })));
const admin = (service: Service, path: string) => seen(service.admin('GET', path));
const expectSet = async (service: Service, quantity: number) =>
  expect((await set(service, quantity)).outcome).toBe('200');
const expectReady = async (service: Service, expected = '200') =>
  expect((await admin(service, '/readyz')).outcome).toBe(expected);

/** Repeats the work until it succeeds, for as long as a busy machine may take. */
function eventually<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(work, { timeout: 60_000 });
}

/** Returns the stock of pet 1 once the service answers again. */
async function quantity(service: Service): Promise<number> {
  return eventually(async () => {
    const { text } = await list(service);
    return Number(/\{"petId":1,"quantity":(-?\d+)/.exec(text)?.[1] ?? expect.fail(text));
  });
}

const UNAVAILABLE = { outcome: '503 storage_unavailable', retryAfter: '2' };
const UNKNOWN = { outcome: '503 outcome_unknown', retryAfter: '2' };
const NOT_READY = '503 store_unavailable';

describe('the service while its database is frozen', () => {
  test('answers while its database is frozen, and recovers once the database thaws', async () => {
    const server = await temporaryPostgres();
    const service = await start(server.url);
    await set(service, 3);
    server.freeze();
    // The probe gives up sooner, so it has its response before the request.
    const order: string[] = [];
    const noted = <Seen>(name: string, asked: Promise<Seen>) => asked.finally(() => order.push(name));
    const patched = noted('request', set(service, 4));
    const watched = [noted('ready', admin(service, '/readyz')), noted('metrics', admin(service, '/metrics'))] as const;
    expect((await admin(service, '/healthz')).outcome).toBe('200');
    const [ready, metrics] = await Promise.all(watched);
    expect(ready.outcome).toBe(NOT_READY);
    expect(metrics.text).toMatch(/^petstock_store_up 0$/m);
    expect(await patched).toMatchObject(UNAVAILABLE);
    expect(order.at(-1)).toBe('request');
    server.thaw();
    expect(await quantity(service)).toBe(3);
    await expectReady(service);
    await expectSet(service, 5);
  });

  test('opens at most 3 connections for 50 probes of a frozen database', async () => {
    const server = await temporaryPostgres();
    const service = await start(server.url);
    server.freeze();
    const probes = await Promise.all(Array.from({ length: 50 }, () => admin(service, '/readyz')));
    expect(new Set(probes.map(({ outcome }) => outcome))).toEqual(new Set([NOT_READY]));
    server.thaw();
    const open = `SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'petstock service'`;
    const [row] = await runSql(server.url, open);
    expect(row?.open).toBeLessThanOrEqual(3);
  });

  test('does not make a change late if it was reported as unknown while the database was frozen', async () => {
    const { server, proxy, service } = await startWithProxy();
    const other = await start(server.url, { key: service.key });
    await set(service, 3);
    const frozen = proxy.before(asks('set'), () => server.freeze());
    const changed = set(service, 4);
    await frozen;
    expect(await changed).toMatchObject(UNKNOWN);
    server.thaw();
    // The connection of the change has ended, so the server has read everything that was sent on it.
    await eventually(async () => {
      const late = `FROM pg_stat_activity WHERE query LIKE '%UPDATE petstock_service.pets%' AND pid <> pg_backend_pid()`;
      expect(await runSql(server.url, `SELECT pid ${late}`)).toEqual([]);
    });
    expect(await quantity(other)).toBe(3);
  });

  test('closes the service and its connections even if the database is frozen', async () => {
    const { server, proxy, service } = await startWithProxy();
    const frozen = proxy.before(asks('charge'), () => server.freeze());
    const answers = Promise.allSettled([set(service, 4), list(service)]);
    await frozen;
    await service.close();
    await eventually(() => expect(proxy.open()).toBe(0));
    server.thaw();
    await answers;
  });
});

describe('the service after it lost its database', () => {
  test('replaces all dead connections after one request has failed', async () => {
    const { proxy, service } = await startWithProxy();
    await Promise.all([set(service, 3), list(service), admin(service, '/readyz'), admin(service, '/metrics')]);
    expect(proxy.open()).toBeGreaterThan(1);
    proxy.swallow();
    expect(await list(service)).toMatchObject(UNAVAILABLE);
    await expectSet(service, 4);
  });

  test('switches to the database that took over the address of a database that became read-only', async () => {
    const [old, promoted] = [await temporaryPostgres(), await temporaryPostgres()];
    const proxy = await postgresProxy(old);
    const service = await start(proxy.url);
    await start(promoted.url, { key: service.key });
    await set(service, 3);
    await runSql(old.url, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    await eventually(() => expectReady(service, NOT_READY));
    expect(await set(service, 4)).toMatchObject(UNAVAILABLE);
    proxy.lead(promoted);
    await expectSet(service, 5);
    await expectReady(service);
    expect(await runSql(promoted.url, 'SELECT quantity::int FROM petstock_service.pets WHERE id = 1')).toEqual([
      { quantity: 5 },
    ]);
  });

  test('answers 503 while the database has no free connection, and 200 once a connection is free', async () => {
    const server = await temporaryPostgres({
      settings: ['max_connections = 8', 'superuser_reserved_connections = 0', 'max_wal_senders = 0'],
    });
    const service = await start(server.url);
    const others = await fill(server.url, 8);
    expect(await set(service, 4)).toMatchObject(UNAVAILABLE);
    await expectReady(service, NOT_READY);
    expect((await admin(service, '/metrics')).text).toMatch(/^petstock_store_up 0$/m);
    await Promise.all(others.map((other) => other.end()));
    await eventually(() => expectReady(service));
    await expectSet(service, 5);
  });

  test('reports a change as unknown if its response is lost, and keeps confirmed changes on disk', async () => {
    const server = await temporaryPostgres();
    await runSql(server.url, 'ALTER SYSTEM SET synchronous_commit = off', 'SELECT pg_reload_conf()');
    const proxy = await postgresProxy(server);
    const service = await start(proxy.url);
    const isSent = proxy.unanswered(asks('set'));
    const changed = set(service, 4);
    await isSent;
    expect(await changed).toMatchObject(UNKNOWN);
    expect(await quantity(service)).toBe(4);
    // A change that got a 200 survives a crash, although this server's commits don't wait for the disk by default.
    await expectSet(service, 5);
    await server.kill();
    await server.restart();
    expect(await quantity(service)).toBe(5);
  });
});

test('fails only the list whose database connection ends while its reader is slow', async () => {
  const database = await temporaryDatabase();
  const stock = seededStock({ pets: 2_500 });
  const storage = await openPostgres([database], stock, Date);
  onTestFinished(() => storage.close());
  const pages = storage.inventory();
  await pages.next();
  // No code listens for errors of the connection while its reader is slow.
  const held = `FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`;
  expect(await runSql(database, `SELECT pg_terminate_backend(pid) ${held}`)).toHaveLength(1);
  await eventually(async () => expect(await runSql(database, `SELECT 1 ${held}`)).toEqual([]));
  await expect(async () => {
    for await (const page of pages) expect(page).not.toBe('');
  }).rejects.toThrow(StorageError);
  await storage.check();
});

test('admits requests while another replica hangs in the middle of an admission', async () => {
  const server = await temporaryPostgres();
  const proxy = await postgresProxy(server);
  const limits = { minute: 1_000, day: 8 };
  const still = await start(proxy.url, { limits, ban: false });
  const other = await start(server.url, { limits, ban: false, key: still.key });
  const stands = proxy.unanswered(asks('valid keys'));
  const lost = set(still, 4);
  await stands;
  const began = Date.now();
  const answers = await Promise.all(Array.from({ length: 12 }, () => set(other, 5)));
  expect(Date.now() - began).toBeLessThan(3_000);
  const outcomes = answers.map(({ outcome }) => outcome).sort();
  expect(outcomes).toEqual([...Array(8).fill('200'), ...Array(4).fill('429 rate_limited')]);
  expect(await lost).toMatchObject(UNAVAILABLE);
});

/** Opens this many connections, and ends those of others to get them. */
async function fill(url: string, count: number): Promise<pg.Client[]> {
  const clients: pg.Client[] = [];
  while (clients.length < count) {
    await eventually(async () => {
      const others = `FROM pg_stat_activity WHERE application_name = 'petstock service'`;
      await clients[0]?.query(`SELECT pg_terminate_backend(pid) ${others}`);
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect();
      clients.push(client);
    });
  }
  return clients;
}

test('writes to the one of several servers that accepts writes, and to another after its death', async () => {
  const primary = await temporaryPostgres();
  const standby = await temporaryPostgres({ following: primary });
  const service = await start('', { database: [standby.url, primary.url] });
  await expectSet(service, 5);
  const isBehind = 'SELECT 1 FROM pg_stat_replication WHERE replay_lsn < pg_current_wal_lsn()';
  await eventually(async () => expect(await runSql(primary.url, isBehind)).toEqual([]));
  await primary.kill();
  expect((await set(service, 6)).outcome).toMatch(/^503 /);
  await runSql(standby.url, 'SELECT pg_promote()');
  expect(await quantity(service)).toBe(5);
  await expectSet(service, 7);
  expect(await quantity(service)).toBe(7);
});
