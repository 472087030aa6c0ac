import { expect, test, vi } from 'vitest';
import {
  expectIntended,
  expectResumed,
  oneMoment,
  rows,
  settingWith,
  untilAnswered,
} from '../../support/interrupted-run.ts';
import { runSql, temporaryPostgres } from '../../support/postgres.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { openTeam } from '../../support/team.ts';

vi.setConfig({ testTimeout: 300_000 });

/** Resolves once `look` no longer throws. */
const eventually = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 120_000, interval: 20 });

const untilStandbyIs = ({ url }: PostgresServer, state: string) =>
  eventually(async () =>
    expect(await runSql(url, 'SELECT sync_state FROM pg_stat_replication')).toEqual([{ sync_state: state }]),
  );

type Pair = Awaited<ReturnType<typeof asynchronousPair>>;

async function asynchronousPair() {
  const primary = await temporaryPostgres({ settings: ['fsync = on'] });
  const standby = await temporaryPostgres({ following: primary });
  await untilStandbyIs(primary, 'async');
  const hosts = [primary.folder, standby.folder].join();
  return {
    url: `postgresql://postgres@/postgres?host=${hosts}&target_session_attrs=read-write`,
    primary,
    standby,
    /** Kills the primary, and promotes the standby. */
    failOver: async () => {
      await primary.kill();
      await runSql(standby.url, 'SELECT pg_promote()');
    },
  };
}

/** Starts a primary whose commits wait until the standby's disk has them. */
async function synchronousPair(): Promise<Pair> {
  const pair = await asynchronousPair();
  await runSql(pair.primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
  await untilStandbyIs(pair.primary, 'sync');
  return pair;
}

test.each(oneMoment)('neither loses nor doubles a write in a failover after %i responses', async (count) => {
  const given = await settingWith(synchronousPair);
  const { standby, failOver } = given.server;
  const program = given.begin();
  await untilAnswered(given.service, count);
  await failOver();
  given.release();
  // The run waits up to 10 s for a standby to take over, and a busy machine may be slower.
  expect([0, 5, 8]).toContain((await program.result).code);
  await expectIntended(given.service, standby);
  await expectResumed(given);
});

test('resumes a run on the promoted standby after the primary hung', async () => {
  const given = await settingWith(synchronousPair);
  const program = given.begin();
  await untilAnswered(given.service, rows / 2);
  given.server.primary.freeze();
  await runSql(given.server.standby.url, 'SELECT pg_promote()');
  given.release();
  expect([0, 5, 8]).toContain((await program.result).code);
  await given.server.primary.kill();
  await expectResumed(given);
});

const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
/** Resolves once a commit waits for the standby. */
const untilWaiting = ({ url }: PostgresServer) =>
  eventually(async () => expect(await runSql(url, `SELECT pid ${waiting}`)).not.toEqual([]));

test('does not send a write whose intent the standby lacks', async () => {
  const { machine, server, service } = await settingWith(synchronousPair);
  const till = machine();
  await till.run('inventory list -q');
  await server.standby.kill();
  const program = till.start('inventory adjust 4 +1');
  await untilWaiting(server.primary);
  expect([5, 8]).toContain((await program.result).code);
  expect(service.seen('PATCH')).toEqual([]);
});

/** Opens a till and an office. After `refuse`, the service responds with a 429. */
async function openRefused({ url }: Pair) {
  const { machine, service } = await openTeam(url);
  const [till, office] = [await machine('till'), await machine('office')];
  await till.run('inventory list -q');
  return { till, office, refuse: () => service.setFaults(['*:status=429:retry-after=3600']) };
}

test('keeps a gate through a failover to a synchronous standby', async () => {
  const pair = await synchronousPair();
  const { till, office, refuse } = await openRefused(pair);
  refuse();
  expect(await till.run('inventory get 4')).toMatchObject({ code: 6, requests: [{}] });
  await pair.failOver();
  expect(await office.run('inventory get 4')).toMatchObject({ code: 6, requests: [] });
});

/** Disconnects the standby from the primary, as if the network were too slow for writes. */
const leaveBehind = async ({ primary, standby }: Pair) => {
  await runSql(standby.url, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
  await eventually(async () => expect(await runSql(primary.url, 'SELECT pid FROM pg_stat_replication')).toEqual([]));
};

test('never writes a row twice after a failover that lost confirmed writes', async () => {
  const given = await settingWith(asynchronousPair);
  const program = given.begin();
  await untilAnswered(given.service, 30);
  const resume = given.pause();
  await leaveBehind(given.server);
  resume();
  await untilAnswered(given.service, 60);
  await given.server.failOver();
  given.release();
  expect([0, 5, 8]).toContain((await program.result).code);
  await expectResumed(given);
});

test('uses the server that is promoted, and refuses a standby', async () => {
  const { machine, server } = await settingWith(asynchronousPair);
  await machine().run('inventory list -q');
  expect(await machine().run('state info', { env: { PETSTOCK_STATE_URL: server.standby.url } })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is a standby'),
  });
  await server.failOver();
  expect(JSON.parse((await machine().run('state info --json')).stdout)).toMatchObject({ location: server.url });
});
