import { appendFileSync, readFileSync, statSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSession } from '../../src/counts/read-session.ts';
import type { ScanRecord } from '../../src/counts/records.ts';
import { Sessions, tallyOf } from '../../src/counts/sessions.ts';
import type { ProcessIdentity } from '../../src/shared/processes.ts';
import { createTestClock } from '../support/clock.ts';
import fc from '../support/seeded-fast-check.ts';
import { temporaryFolders } from '../support/shop.ts';

const about = { env: 'staging', service: 'https://shop.example/v1', baseUrl: 'https://shop.example/v1', merged: [] };
const add = (code: string, units = 1): ScanRecord => ({ add: units, code, pet: code });

function processNumber(pid: number, host = 'till'): ProcessIdentity {
  return { host, namespace: host, boot: 'test', pid, startedAt: `${pid}` };
}

/** A machine on which several processes look at one folder. */
async function machine() {
  const { state } = await temporaryFolders();
  const clock = createTestClock();
  const gone = new Set<number>();
  const sessionsOf = (self: ProcessIdentity) => {
    const isGone = ({ host, pid }: ProcessIdentity) => host === self.host && gone.has(pid);
    const processes = { self, isGone, isStopped: () => false };
    return new Sessions({ folder: state, clock, processes, random: () => 0.25 });
  };
  return { state, clock, gone, sessionsOf };
}

const unitsIn = (path: string) => tallyOf(readSession(path)).units;

test('while one process counts, another can not; once it has gone or left, it can', async () => {
  const { gone, sessionsOf } = await machine();
  const [one, two] = [sessionsOf(processNumber(1)), sessionsOf(processNumber(2))];
  const log = await one.begin(about);
  log.append([add('4')]);
  expect(() => two.open(log.session)).toThrow(/is being counted by process 1 on till/);
  log.append([add('4')]);
  gone.add(1);
  const taken = two.open(log.session);
  expect(tallyOf(taken.session).units).toBe(2);
  taken.close();
  const again = one.open(log.session);
  again.append([add('5')]);
  expect(unitsIn(again.session.path)).toBe(3);
});

test('of one in another container it is known that it lives as long as it says so; afterwards it may not write', async () => {
  const { clock, sessionsOf } = await machine();
  const [one, two] = [sessionsOf(processNumber(1, 'box-1')), sessionsOf(processNumber(1, 'box-2'))];
  const log = await one.begin(about);
  const { path } = log.session;
  const touch = () => utimesSync(path, clock.now() / 1000, clock.now() / 1000);
  touch();
  clock.advance(10_000);
  clock.expireDeadlines();
  clock.advance(10_000);
  expect(() => two.open(log.session)).toThrow(/is being counted/);
  clock.advance(5001);
  const taken = two.open(log.session);
  expect(() => log.append([add('4')])).toThrow(/was taken over by another process/);
  taken.append([add('4')]);
  expect(unitsIn(path)).toBe(1);
});

test('a session that is removed while it is counted is noticed with the next scan', async () => {
  const { rm } = await import('node:fs/promises');
  const { sessionsOf } = await machine();
  const log = await sessionsOf(processNumber(1)).begin(about);
  await rm(log.session.path);
  expect(() => log.append([add('4')])).toThrow(/was removed while it was counted/);
});

test('what a power cut leaves of a file is a session all the same, up to the last whole scan', async () => {
  const { gone, sessionsOf } = await machine();
  const log = await sessionsOf(processNumber(1)).begin(about);
  const { path } = log.session;
  const begun = statSync(path).size;
  const codes = Array.from({ length: 20 }, (_, index) => `${index}`);
  for (const code of codes) log.append([add(code)]);
  gone.add(1);
  const whole = readFileSync(path);
  fc.assert(
    fc.property(fc.integer({ min: begun, max: whole.length }), (size) => {
      truncateSync(path, 0);
      appendFileSync(path, whole.subarray(0, size));
      const lines = whole.subarray(begun, size).toString().split('\n').length - 1;
      const next = sessionsOf(processNumber(2)).open({ path });
      const found = tallyOf(next.session).units;
      // Where no more than the line end is missing, the scan is whole.
      expect([lines, lines + 1]).toContain(found);
      next.append([add('99')]);
      next.close();
      expect(unitsIn(path)).toBe(found + 1);
      expect(tallyOf(readSession(path)).unitsOf(99n)).toBe(1);
    }),
    { numRuns: 60 },
  );
});

test('a line that makes no sense is damage, until it is gone on without; the others count', async () => {
  const { gone, sessionsOf } = await machine();
  const log = await sessionsOf(processNumber(1)).begin(about);
  gone.add(1);
  log.append([add('4')]);
  appendFileSync(log.session.path, '{"add":-1,"code":"4"}\n{"add":1,"code":"5","pet":"5"}\n');
  const next = sessionsOf(processNumber(2)).open(log.session);
  expect(next.session.damage).toEqual([4]);
  expect(tallyOf(next.session).units).toBe(2);
  next.acceptDamage();
  expect(readSession(log.session.path)).toMatchObject({ damage: [], end: undefined });
  expect(unitsIn(log.session.path)).toBe(2);
});

test('wherever bytes of a session are damaged, it is read, and every scan on a whole line counts', async () => {
  const { gone, sessionsOf } = await machine();
  const log = await sessionsOf(processNumber(1)).begin(about);
  const { path } = log.session;
  const begun = statSync(path).size;
  for (let code = 0; code < 10; code += 1) log.append([add(`${code}`)]);
  gone.add(1);
  const whole = readFileSync(path);
  fc.assert(
    fc.property(
      fc.integer({ min: begun, max: whole.length - 2 }),
      fc.constantFrom('\0', '}', ' ', '\n', '\ud800'),
      (at, byte) => {
        truncateSync(path, 0);
        appendFileSync(path, Buffer.concat([whole.subarray(0, at), Buffer.from(byte), whole.subarray(at + 1)]));
        expect(unitsIn(path)).toBeGreaterThanOrEqual(8);
        const { units, unknownUnits } = tallyOf(readSession(path));
        if (units + unknownUnits < 10) expect(readSession(path).damage).not.toEqual([]);
        const next = sessionsOf(processNumber(2)).open({ path });
        next.acceptDamage();
        next.close();
        expect(readSession(path).damage).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test('a crash between a merged session and the end of its sources counts nothing twice', async () => {
  const { gone, sessionsOf } = await machine();
  const sessions = sessionsOf(processNumber(1));
  const sources = [await sessions.begin(about), await sessions.begin(about)];
  for (const log of sources) log.append([add('4', 2)]);
  for (const log of sources) log.close();
  const whole = sources.map(({ session }) => readFileSync(session.path));
  const merged = await sessions.merge(
    sources.map(({ session }) => session),
    false,
  );
  expect(tallyOf(merged.session).units).toBe(4);
  for (const [index, { session }] of sources.entries()) appendFileSync(session.path, whole[index] ?? '');
  gone.add(1);
  const after = sessionsOf(processNumber(2));
  after.endSources(merged.session);
  expect(after.list(false).found.map(({ head }) => head.session)).toEqual([merged.session.head.session]);
});

test('files are private, and each session has other last characters', async () => {
  const { state, sessionsOf } = await machine();
  const sessions = sessionsOf(processNumber(1));
  const names = [];
  for (let index = 0; index < 20; index += 1) names.push((await sessions.begin(about)).session.head.session.slice(-4));
  expect(new Set(names).size).toBe(20);
  expect(statSync(join(state, 'counts')).mode & 0o777).toBe(0o700);
  for (const { path } of sessions.list(true).found) expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(() => sessions.find('zzzz')).toThrow(/There is no session zzzz/);
  expect(sessions.find(names[3] ?? '').head.session).toMatch(new RegExp(`${names[3]}$`));
});
