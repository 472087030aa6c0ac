import { expect, test, vi } from 'vitest';
import type { StateDescription } from '../../../src/state/state.ts';
import { expectResumed, oneMoment, rows, settingWith, untilAnswered } from '../../support/interrupted-run.ts';
import { runSql, temporaryPostgres } from '../../support/postgres.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { openTeam } from '../../support/team.ts';

interface Pair {
  /** Names both. */
  readonly url: string;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** `kill -9` of the primary, and the standby takes over. */
  failOver(): Promise<void>;
}

/** A primary that commits nothing before its standby has it on its disk. */
async function synchronousPair(): Promise<Pair> {
  const pair = await asynchronousPair();
  await runSql(pair.primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
  await untilStandbyIs(pair.primary, 'sync');
  return pair;
}

async function asynchronousPair(): Promise<Pair> {
  const primary = await temporaryPostgres({ settings: ['fsync = on'] });
  const standby = await temporaryPostgres({ following: primary });
  await untilStandbyIs(primary, 'async');
  const hosts = [primary.folder, standby.folder].join();
  return {
    url: `postgresql://postgres@/postgres?host=${hosts}&target_session_attrs=read-write`,
    primary,
    standby,
    failOver: async () => {
      await primary.kill();
      await runSql(standby.url, 'SELECT pg_promote()');
    },
  };
}

const untilStandbyIs = ({ url }: PostgresServer, state: string) =>
  vi.waitFor(
    async () =>
      expect(await runSql(url, 'SELECT sync_state FROM pg_stat_replication')).toEqual([{ sync_state: state }]),
    { timeout: 120_000, interval: 20 },
  );

test.each(oneMoment)(
  'a failover once %i rows are answered: nothing is lost or doubled',
  async (count) => {
    const given = await settingWith(synchronousPair);
    const program = given.begin();
    await untilAnswered(given.service, count);
    await given.server.failOver();
    given.release();
    const { code } = await program.result;
    // A standby that takes over within 5 s is waited for; the machine may be slower.
    expect([0, 5, 8]).toContain(code);
    const sent = given.service.seen('PATCH');
    const recorded = await runSql(
      given.server.standby.url,
      "SELECT pet_id::text AS pet FROM petstock.rows WHERE result <> 'pending'",
    );
    const pets = new Set(recorded.map(({ pet }) => pet));
    expect(sent.filter(({ path }) => !pets.has(path.replace(/.*\//, '')))).toEqual([]);
    await expectResumed(given);
    // Numbers begin anew above all that were drawn before.
    const [last] = await runSql(given.server.standby.url, 'SELECT last::integer AS value FROM petstock.sequence');
    expect(last?.value).toBeGreaterThan(1_000_000);
  },
  300_000,
);

test('a primary that hangs is left for the standby that takes over from it', async () => {
  const given = await settingWith(synchronousPair);
  const program = given.begin();
  await untilAnswered(given.service, rows / 2);
  given.server.primary.freeze();
  await runSql(given.server.standby.url, 'SELECT pg_promote()');
  given.release();
  const { code } = await program.result;
  expect([0, 5, 8]).toContain(code);
  await given.server.primary.kill();
  await expectResumed(given);
}, 300_000);

/** Ends the wait of a commit for its standby, once there is one. */
const untilWaiting = ({ url }: PostgresServer) => {
  const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  const waits = async () => expect(await runSql(url, cancel)).not.toEqual([]);
  return vi.waitFor(waits, { timeout: 120_000, interval: 20 });
};

test('what the standby does not have is not relied on, though the primary has committed it', async () => {
  const { machine, server, service } = await settingWith(synchronousPair);
  const till = machine();
  await till.run('inventory list -q');
  await server.standby.kill();
  const program = till.start('inventory adjust 4 +1');
  await untilWaiting(server.primary);
  expect(await program.result).toMatchObject({ code: 5, stderr: expect.stringContaining('to one server alone') });
  expect(service.seen('PATCH')).toEqual([]);
}, 300_000);

const refusing = ['*:status=429:retry-after=3600'];

test('a 429 outlasts a failover to a synchronous standby', async () => {
  const { url, failOver } = await synchronousPair();
  const { machine, service } = await openTeam(url);
  const [till, office] = [await machine('till'), await machine('office')];
  await till.run('inventory list -q');
  service.setFaults(refusing);
  expect(await till.run('inventory get 4')).toMatchObject({ code: 6, requests: [{}] });
  await failOver();
  expect(await office.run('inventory get 4')).toMatchObject({ code: 6, requests: [] });
}, 300_000);

test('a 429 is one for all machines at once while the standby is away, and holds none of them up', async () => {
  const { url, primary, standby } = await synchronousPair();
  const { machine, service } = await openTeam(url);
  const [till, office] = [await machine('till'), await machine('office')];
  await till.run('inventory list -q');
  await standby.kill();
  service.setFaults(refusing);
  const result = till.run('inventory get 4');
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await vi.waitFor(async () => expect(await runSql(primary.url, waiting)).not.toEqual([]), {
    timeout: 120_000,
    interval: 20,
  });
  expect(await office.run('inventory get 4')).toMatchObject({ code: 6, requests: [] });
  expect(await runSql(primary.url, waiting)).not.toEqual([]);
  await untilWaiting(primary);
  const { code, requests } = await result;
  // 5 where the machine was so busy that the answer did not come in time.
  expect([5, 6]).toContain(code);
  expect(requests).toHaveLength(1);
}, 300_000);

/** From now on the standby gets nothing more, as over a network that is slower than the primary. */
const leaveBehind = async ({ primary, standby }: Pair) => {
  await runSql(standby.url, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
  await vi.waitFor(async () => expect(await runSql(primary.url, 'SELECT pid FROM pg_stat_replication')).toEqual([]), {
    timeout: 120_000,
    interval: 20,
  });
};

test('a failover that loses what was confirmed is noticed: nothing more is sent, and nothing is doubled', async () => {
  const given = await settingWith(asynchronousPair);
  const program = given.begin();
  await untilAnswered(given.service, 30);
  const goOn = given.pause();
  await leaveBehind(given.server);
  goOn();
  await untilAnswered(given.service, 60);
  await given.server.failOver();
  given.release();
  const { code, stderr } = await program.result;
  expect(stderr).toContain('has lost what it had confirmed');
  expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
  expect(code).toBe(8);
  await expectResumed(given);
}, 300_000);

test('state info says that a standby is not waited for', async () => {
  const { machine, server } = await settingWith(asynchronousPair);
  const { standby, url, failOver } = server;
  await machine().run('inventory list -q');
  const info = async () => JSON.parse((await machine().run('state info --json')).stdout) as StateDescription;
  expect(await info()).toMatchObject({ warnings: [expect.stringContaining('does not wait for its standby')] });
  expect(await machine().run('state info', { env: { PETSTOCK_STATE_URL: standby.url } })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is a standby'),
  });
  await failOver();
  expect(await info()).toMatchObject({ location: url, warnings: [] });
}, 300_000);
