import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { accountOf } from '../../src/counts/account.ts';
import { CountSessions } from '../../src/counts/count-sessions.ts';
import { type ScanRecord, shortOf } from '../../src/counts/session-tables.ts';
import { noBarCodes } from '../../src/inventory/bar-codes.ts';
import type { ProcessIdentity } from '../../src/shared/processes.ts';
import { connectIn } from '../../src/state/sqlite/open-file.ts';
import { createTestClock } from '../support/clock.ts';
import { temporaryFolders } from '../support/shop.ts';

const service = 'https://shop.example/v1';
const head = { mode: 'count', env: 'staging', service, baseUrl: service } as const;
const empty = { head, codes: noBarCodes, scans: [] };
const add = (pet: bigint, units = 1): ScanRecord => ({ kind: 'add', units, code: `${pet}`, pet });
const unitsIn = (sessions: CountSessions, name: string) => accountOf(sessions.find(name)).tally.units;

function processNumber(pid: number): ProcessIdentity {
  return { host: 'till', namespace: 'till', boot: 'test', pid, startedAt: `${pid}` };
}

/** Opens a machine on which several processes share one state. */
async function machine() {
  const { state: folder } = await temporaryFolders();
  const clock = createTestClock();
  const gone = new Set<number>();
  const sessionsOf = async (self: ProcessIdentity) => {
    const isGone = ({ host, pid }: ProcessIdentity) => host === self.host && gone.has(pid);
    const system = { clock, processes: { self, isGone, isStopped: () => false }, random: () => 0.25, warn: () => {} };
    return new CountSessions(await connectIn(folder, { ...system, need: 'history' }), system);
  };
  return { folder, clock, gone, sessionsOf };
}

test('lets one process at a time count a session, until it exits or leaves', async () => {
  const { clock, gone, sessionsOf } = await machine();
  const [one, two] = [await sessionsOf(processNumber(1)), await sessionsOf(processNumber(2))];
  const session = one.begin(empty);
  session.append([add(4n)]);
  // A live process of the same machine keeps its session, however long it has been silent.
  clock.advance(60_000);
  expect(() => two.take(session)).toThrow(/is being counted by process 1 on till/);
  expect(() =>
    two.merge(
      [session, session].map(({ head }) => two.find(head.session)),
      undefined,
    ),
  ).toThrow(/counted/);
  session.append([add(4n)]);
  gone.add(1);
  const taken = two.take(session);
  expect(accountOf(taken).tally.units).toBe(2);
  expect(() => session.append([add(4n)])).toThrow(/was taken over or finished by another process/);
  taken.close();
  const again = one.take(session);
  again.append([add(5n)]);
  expect(unitsIn(one, shortOf(session))).toBe(3);
});

test.each(['host', 'namespace'])(
  'leaves a session to a process of another %s until the process stops renewing it',
  async (part) => {
    const { clock, sessionsOf } = await machine();
    const [one, two] = [await sessionsOf(processNumber(1)), await sessionsOf({ ...processNumber(1), [part]: 'box-2' })];
    const session = one.begin(empty);
    clock.advance(10_000);
    clock.expireDeadlines();
    clock.advance(10_000);
    expect(() => two.take(session)).toThrow(/is being counted/);
    clock.advance(5001);
    two.take(session).append([add(4n)]);
    expect(() => session.append([add(4n)])).toThrow(/was taken over/);
    expect(unitsIn(two, shortOf(session))).toBe(1);
  },
);

test('frees the session of a process from before a reboot even if the clock was set back', async () => {
  const { clock, sessionsOf } = await machine();
  const session = (await sessionsOf({ ...processNumber(1), boot: 'before' })).begin(empty);
  const two = await sessionsOf(processNumber(2));
  expect(() => two.take(session)).toThrow(/is being counted/);
  clock.step(-3_600_000);
  expect(two.take(session).isOpen).toBe(true);
});

test('fails the next scan if the state was removed', async () => {
  const { folder, sessionsOf } = await machine();
  const session = (await sessionsOf(processNumber(1))).begin(empty);
  rmSync(folder, { recursive: true });
  expect(() => session.append([add(4n)])).toThrow(/was removed or replaced during session \w{4}/);
});

test('stores ids with every digit, and codes unchanged', async () => {
  const { sessionsOf } = await machine();
  const sessions = await sessionsOf(processNumber(1));
  const codes = {
    pets: new Map([['007', 9223372036854775807n]]),
    names: new Map([[9223372036854775807n, 'Rex']]),
    lows: new Map(),
  };
  const scans: ScanRecord[] = [
    { kind: 'add', units: 2, code: '007', pet: 9223372036854775807n },
    { kind: 'set', units: 0, code: "x'\n", pet: undefined },
    { kind: 'back', units: 0, code: '' },
  ];
  const session = sessions.begin({ ...empty, codes });
  session.append(scans);
  session.close();
  expect(sessions.find(shortOf(session))).toMatchObject({ scans, codes, holder: undefined, end: undefined });
});

test('merges sessions once, and refuses to merge them again', async () => {
  const { sessionsOf } = await machine();
  const sessions = await sessionsOf(processNumber(1));
  const sources = [1, 2].map(() => {
    const session = sessions.begin(empty);
    session.append([add(4n, 2), { kind: 'add', units: 1, code: 'foo' }]);
    session.close();
    return sessions.find(shortOf(session));
  });
  const merged = sessions.merge(sources, undefined);
  expect(accountOf(merged).tally).toMatchObject({ units: 4, unknownUnits: 2 });
  expect(() => sessions.merge(sources, undefined)).toThrow(/was finished or removed by another process/);
  expect(sessions.list(false).map(({ head }) => head.session)).toEqual([merged.head.session]);
});

test('finds each session by its id or its last characters', async () => {
  const { sessionsOf } = await machine();
  const sessions = await sessionsOf(processNumber(1));
  const names = Array.from({ length: 20 }, () => shortOf(sessions.begin(empty)));
  expect(new Set(names).size).toBe(20);
  expect(() => sessions.find('zzzz')).toThrow(/There is no session zzzz/);
  const found = sessions.find(names[3] ?? '');
  expect(shortOf(found)).toBe(names[3]);
  expect(sessions.find(found.head.session)).toEqual(found);
  expect(() => sessions.find(`20200101T000000Z-${names[3]}`)).toThrow(/There is no session 20200101/);
  const removed = { ...found, head: { ...found.head, session: '20200101T000000Z-zzzz' } };
  expect(() => sessions.take(removed)).toThrow(/was finished or removed by another process/);
});
