import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { LostConnectionError } from '../../src/state/state-store.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { portOf } from '../support/servers.ts';
import { openShop, withEnv } from '../support/shop.ts';
import { newState, openedIn, service } from './rig.ts';

const waiting = () => ({ isBulk: false, signal: new AbortController().signal, onWait: async () => {} });
const nothing = () => ({ writes: [], result: undefined });

test('ends the turn and the lock of a run with their connection, and goes on over a new one', async () => {
  const state = await newState('postgres');
  const [store, other] = [await state.open(), await state.open()];
  const [turn, lock] = [await store.takeTurn(service, waiting()), await store.lockRun('run')];
  const others = 'pid <> pg_backend_pid() AND datname = current_database()';
  await runSql(state.place, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${others}`);
  await expect(turn.transact([], nothing)).rejects.toThrow(LostConnectionError);
  expect([turn.isLost, lock?.isLost]).toEqual([true, true]);
  await (await other.takeTurn(service, waiting())).release();
  await store.transact([], nothing);
  expect(await store.lockRun('run')).toMatchObject({ isLost: false });
  await (await store.takeTurn(service, waiting())).release();
});

test('ends its former session, whose end the network has not told the database', async () => {
  const state = await newState('postgres');
  const nears: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(socketOf(state.place)).on('error', () => {});
    onTestFinished(() => void far.destroy());
    nears.push(near.on('error', () => {}));
    near.pipe(far, { end: false }).pipe(near);
  });
  onTestFinished(() => void server.close());
  const store = await openedIn(await urlAt(server, state.place));
  await store.lockRun('run');
  for (const near of nears) near.destroy();
  await store.ask([]);
  expect(await store.lockRun('run')).toBeDefined();
});

test('gets its turn over a new connection if the one that waited was lost', async () => {
  const state = await newState('postgres');
  const [store, other] = [await state.open(), await state.open()];
  const turn = await store.takeTurn(service, waiting());
  const waits = "pid <> pg_backend_pid() AND datname = current_database() AND wait_event = 'advisory'";
  const cut = async () => {
    await runSql(state.place, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${waits}`);
    await turn.release();
  };
  let cuts = 0;
  const onWait = async () => {
    if (cuts++ === 0) void cut();
  };
  await (await other.takeTurn(service, { ...waiting(), onWait })).release();
  expect(cuts).toBeGreaterThan(0);
});

test('ends the session of a process that has the turn and is silent for 5 s', async () => {
  const state = await newState('postgres');
  const store = await state.open();
  await store.takeTurn(service, waiting());
  const select = "SELECT setting FROM pg_settings WHERE name = 'idle_session_timeout'";
  const { answers } = await store.ask([{ sql: select, values: [] }]);
  expect(answers[0]).toEqual([{ setting: '5000' }]);
});

function socketOf(url: string): string {
  return `${decodeURIComponent(/\?host=(.*)$/.exec(url)?.[1] ?? '')}/.s.PGSQL.5432`;
}

/** Returns the URL of a database through a proxy. */
async function urlAt(proxy: Server, url: string): Promise<string> {
  return `postgresql://postgres@127.0.0.1:${await portOf(proxy)}${/@(\/[^?]+)/.exec(url)?.[1]}?sslmode=disable`;
}

/** Passes on what is sent to a database, and counts how often the client sends something after an answer, connecting and ending included. */
async function countingProxy(url: string) {
  let trips = 0;
  const server = createServer((near) => {
    const far = connect(socketOf(url));
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).pipe(near);
    // The client waits for an answer before it sends more, so all that came before an answer is one round trip.
    let isAnswered = true;
    far.on('data', () => {
      isAnswered = true;
    });
    near.on('data', (bytes) => {
      if (isAnswered) trips += 1;
      isAnswered = false;
      far.write(bytes);
    });
  });
  onTestFinished(() => void server.close());
  return {
    url: await urlAt(server, url),
    taken: () => {
      const taken = trips;
      trips = 0;
      return taken;
    },
  };
}

test.each([
  ['inventory set 4 2', 11, ''],
  ['inventory adjust 4 +1', 12, ''],
  // A slow machine takes more turns.
  ['inventory apply - --yes', 80, deltas(300)],
  ['history list', 6, ''],
])('takes few round trips to the database: %s at most %i', async (command, most, stdin) => {
  const proxy = await countingProxy(await temporaryDatabase());
  const shop = withEnv(await openShop({ pets: 1000 }), { PETSTOCK_STATE_URL: proxy.url });
  await shop.exits('inventory set 4 1', 0, [], { random: Math.random });
  proxy.taken();
  await shop.run(command, { stdin, random: Math.random });
  expect(proxy.taken()).toBeLessThanOrEqual(most);
});

function deltas(count: number): string {
  return ['petId,delta', ...Array.from({ length: count }, (_, index) => `${index + 1},1`)].join('\n');
}
