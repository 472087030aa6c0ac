import { beforeEach, describe, expect, it } from 'vitest';
import type { RunHead } from '../../src/inventory/run-records.ts';
import type { KeyState } from '../../src/rate-limit/key-state.ts';
import type { ReadVersion } from '../../src/state/decide.ts';
import type { Outcome } from '../../src/state/intents-and-outcomes.ts';
import type { PetLock } from '../../src/state/pet-locks.ts';
import type { RunLog } from '../../src/state/run-log.ts';
import type { State } from '../../src/state/state.ts';
import {
  collect,
  createStateClock,
  FakeProcesses,
  headOf,
  intentOf,
  readVersionOf,
  rowFor,
  rowsFor,
  type StateClock,
  serviceName,
} from './rig.ts';

/** A store that several processes use. */
export interface Driver {
  /** Opens the store as another process. */
  open(options: { pid: number; clock: StateClock; processes: FakeProcesses }): Promise<State>;
  /** Resolves once nothing started by a deadline is still in progress. Absent if that is always so. */
  idle?(): Promise<void>;
}

const largest = 9_223_372_036_854_775_807n;
const smallest = -9_223_372_036_854_775_808n;
const timeout = 30_000;
const elsewhere = 'https://other.example/v1';

const granted = [{ kind: 'granted' }];
const busy = (run: string | undefined, until?: number) => ({ run, until });
const busyWith = (run: string, until?: number) => [{ kind: 'busy', run, until }];

const lastKnown = async ({ petWrites }: State, petId: bigint): Promise<number | undefined> =>
  (await petWrites.lastKnown(serviceName, [{ petId }]))[0];

const latest = async ({ limits }: State, scope: string): Promise<KeyState> =>
  (await limits.read?.(scope)) ?? limits.peek(scope);

const inFlight = ({ inFlight }: KeyState) => [...inFlight.keys()];

const settled = async (log: RunLog, ...outcomes: readonly Outcome[]) => {
  await log.settle(outcomes);
  await log.flush();
};

/** Defines the tests that every driver has to pass. */
export function testState(name: string, newStore: () => Driver): void {
  describe(`a state in ${name}`, () => {
    let clock: StateClock;
    let processes: FakeProcesses;
    let driver: Driver;
    let ours: State;
    let theirs: State;

    const open = (pid: number) => driver.open({ pid, clock, processes });
    const begin = (state: State, ...petIds: readonly bigint[]) => state.history.begin(headOf(), rowsFor(...petIds));
    /** Records the intents of rows, given by their numbers and pets. */
    const intend = (log: RunLog, rows: readonly (readonly [number, bigint])[], since?: ReadVersion, lock?: PetLock) =>
      log.intend(
        rows.map(([row, petId]) => intentOf({ row, petId }, clock.monotonic() + timeout)),
        since,
        lock,
      );
    /** Begins a run of pet 7 alone, and intends its row. */
    const intendSeven = async (state: State, since?: ReadVersion, lock?: PetLock) =>
      intend(await begin(state, 7n), [[1, 7n]], since, lock);
    const sending = async (state: State, ...petIds: readonly bigint[]): Promise<RunLog> => {
      const log = await begin(state, ...petIds);
      await intend(
        log,
        petIds.map((petId, index) => [index + 1, petId]),
      );
      return log;
    };
    /** Resumes in `theirs` a run of pet 7 whose process died with its request in flight. */
    const takenOver = async () => {
      const log = await sending(ours, 7n);
      processes.kill(1);
      return { log, resumed: await theirs.history.resume(log.run) };
    };
    const write = async (state: State, petId: bigint, outcome: Partial<Outcome> = {}, head = {}): Promise<RunLog> => {
      const log = await state.history.begin(headOf(head), [rowFor(petId)]);
      await intend(log, [[1, petId]]);
      await settled(log, { row: 1, petId, result: 'applied', quantity: 8, ...outcome });
      return log;
    };
    const runOf = ({ run }: { readonly run: string }) => theirs.history.run(run);
    const rowsOf = ({ run }: { readonly run: string }) => collect(theirs.history.rows(run));
    const lockOf = (state: State, petId = 7n, at = serviceName) => state.pets.lock(at, petId);

    /** Lets time pass, and waits for what expires meanwhile. */
    const pass = async (ms: number) => {
      clock.advance(ms);
      await driver.idle?.();
    };

    beforeEach(async () => {
      clock = createStateClock();
      processes = new FakeProcesses();
      driver = newStore();
      ours = await open(1);
      theirs = await open(2);
    });

    it('describes and checks the state, and rejects calls after it is closed', async () => {
      await write(ours, 7n);
      expect(await theirs.describe()).toMatchObject({ runs: 1, rows: 1 });
      expect(await theirs.check()).toEqual([]);
      await ours.close();
      await expect(readVersionOf(ours)).rejects.toThrow('has been closed');
    });

    describe('limits', () => {
      const start = { type: 'start', boot: 'boot-1', env: 'staging', at: 1, wall: 1_000_000 } as const;
      const sent = (id: string) =>
        ({ type: 'intent', ids: [id], minPermits: 1, by: '', at: 2, expires: 1e9, bulk: false }) as const;
      const refused = { type: 'answer', id: 'x', at: 3, wall: 1_000_003, status: 429, retryAfter: 60_000 } as const;

      it('shows at once the limits that another process has recorded for a key', async () => {
        await ours.limits.fold('one', [start, sent('a')]);
        expect(inFlight(await latest(theirs, 'one'))).toEqual(['a']);
        await theirs.limits.fold('two', [start]);
        const list = await ours.limits.list();
        expect(list.map(({ scope, state }) => [scope, inFlight(state)])).toEqual([
          ['one', ['a']],
          ['two', []],
        ]);
        await theirs.limits.fold('one', [{ type: 'unsent', id: 'a' }]);
        expect(inFlight(await latest(ours, 'one'))).toEqual([]);
      });

      it('keeps both changes if two processes record limits based on the same version', async () => {
        await ours.limits.fold('key', [start, sent('a')]);
        await latest(theirs, 'key');
        await ours.limits.fold('key', [refused]);
        await theirs.limits.fold('key', [{ type: 'unsent', id: 'a' }]);
        expect(inFlight(await latest(ours, 'key'))).toEqual([]);
        await Promise.all([ours.limits.fold('new', [start, refused]), theirs.limits.fold('new', [start, sent('b')])]);
        for (const key of ['key', 'new']) expect((await latest(ours, key)).gate.at).toBeGreaterThan(0);
      });

      it('clears the limits of a key, but keeps its requests in flight', async () => {
        await ours.limits.fold('key', [start, sent('a'), refused]);
        expect((await latest(theirs, 'key')).gate.at).toBeGreaterThan(0);
        await theirs.limits.clear('key');
        expect(await latest(ours, 'key')).toMatchObject({ gate: { at: 0 }, episodes: 0, halfOpen: false });
        // `peek` is up to date once the notice of the change has arrived.
        await expect.poll(() => inFlight(ours.limits.peek('key'))).toEqual(['a']);
      });
    });

    describe('leases', () => {
      it('grants pet locks first come, first served, each for one pet of one service', async () => {
        const first = lockOf(ours);
        const [second, third] = [lockOf(theirs), lockOf(ours)];
        expect(await first.tryAcquire()).toBeUndefined();
        expect(await second.tryAcquire()).toEqual(busy(undefined));
        expect(await third.tryAcquire()).toEqual(busy(undefined));
        for (const lock of [lockOf(theirs, 8n), lockOf(theirs, 7n, elsewhere)])
          expect(await lock.tryAcquire()).toBeUndefined();
        await first.release();
        expect(await third.tryAcquire()).toEqual(busy(undefined));
        expect(await second.tryAcquire()).toBeUndefined();
        await second.release();
        expect(await third.tryAcquire()).toBeUndefined();
      });

      it('passes a lease from a lock to its run, and ends it with the outcome', async () => {
        const lock = lockOf(ours);
        await lock.tryAcquire();
        const log = await begin(ours, 7n);
        expect(await intend(log, [[1, 7n]], await readVersionOf(ours), lock)).toEqual(granted);
        await lock.release();
        const other = lockOf(theirs);
        expect(await other.tryAcquire()).toEqual(busy(log.run));
        await settled(log, { row: 1, petId: 7n, result: 'applied', quantity: 8 });
        expect(await other.tryAcquire()).toBeUndefined();
      });

      it('ends a pet lock at once if its process dies before recording an intent', async () => {
        await lockOf(ours).tryAcquire();
        const other = lockOf(theirs);
        expect(await other.tryAcquire()).toBeDefined();
        processes.kill(1);
        expect(await other.tryAcquire()).toBeUndefined();
      });

      it('keeps the lease of a dead process while its request may be in flight', async () => {
        const log = await sending(ours, 7n);
        const expires = clock.monotonic() + timeout;
        processes.kill(1);
        const other = lockOf(theirs);
        expect(await other.tryAcquire()).toEqual(busy(log.run, expires));
        expect(await intendSeven(theirs)).toEqual(busyWith(log.run, expires));
        // A command that is about to read the stock waits as long, unless it resumes the run itself.
        const pets = new Set([7n, 8n]);
        expect(await theirs.pets.inFlightUntil(serviceName, pets)).toBe(expires);
        expect(await theirs.pets.inFlightUntil(serviceName, pets, log.run)).toBeUndefined();
        expect(await theirs.pets.inFlightUntil(serviceName, new Set([8n]))).toBeUndefined();
        expect(await theirs.pets.inFlightUntil(elsewhere, pets)).toBeUndefined();
        await pass(timeout);
        expect(await theirs.pets.inFlightUntil(serviceName, pets)).toBeUndefined();
        expect(await other.tryAcquire()).toBeUndefined();
      });

      it.each([
        ['an unknown outcome, even if its process lives', { result: 'unknown' }],
        ['a failure whose request may be in flight', { result: 'failed', mayBeInFlight: true }],
      ] as const)('keeps a lease after %s', async (_what, outcome) => {
        const log = await write(ours, 7n, { quantity: undefined, ...outcome });
        const other = lockOf(theirs);
        expect(await other.tryAcquire()).toEqual(busy(log.run, clock.monotonic() + timeout));
        await pass(timeout);
        expect(await other.tryAcquire()).toBeUndefined();
      });

      it('ends a lease when its row was not carried out and is pending again', async () => {
        const log = await write(ours, 7n, { result: 'void', quantity: undefined });
        expect(await lockOf(theirs).tryAcquire()).toBeUndefined();
        expect(await rowsOf(log)).toMatchObject([{ result: 'pending', quantity: undefined }]);
      });

      it('ends a pet lock if its process is suspended for longer than its lease lasts', async () => {
        const lock = lockOf(ours);
        await lock.tryAcquire();
        expect(ours.presence.holdsLease).toBe(true);
        clock.stop(15_001);
        expect(ours.presence.holdsLease).toBe(false);
        expect(await lockOf(theirs).tryAcquire()).toBeUndefined();
        expect(await intendSeven(ours, undefined, lock)).toMatchObject([{ kind: 'busy' }]);
        expect(ours.presence.holdsLease).toBe(true);
      });

      it('stops requests that were granted before their process was suspended', async () => {
        const log = await begin(ours, 7n, 8n);
        await intend(log, [[1, 7n]]);
        clock.stop(15_001);
        await pass(0);
        expect(await intend(log, [[2, 8n]])).toEqual(busyWith(log.run));
        expect(ours.presence.holdsLease).toBe(false);
        await log.settle([{ row: 1, petId: 7n, result: 'void' }]);
        expect(await intend(log, [[2, 8n]])).toEqual(granted);
        expect(ours.presence.holdsLease).toBe(true);
      });

      it('grants a row while a lock on its pet is queued but not acquired', async () => {
        const [first, second] = [lockOf(ours), lockOf(ours)];
        await first.tryAcquire();
        expect(await second.tryAcquire()).toBeDefined();
        await first.release();
        expect(await intendSeven(theirs)).toEqual(granted);
      });
    });

    describe('a write that depends on a stock', () => {
      it.each(['applied', 'differs'] as const)(
        'supersedes a write if another one got the outcome %s after its read version, but not before it',
        async (result) => {
          const since = await readVersionOf(theirs);
          const log = await write(ours, 7n, { result });
          const superseded = { kind: 'superseded', run: log.run, command: 'inventory apply' };
          expect(await intendSeven(theirs, since)).toEqual([superseded]);
          expect(await intendSeven(theirs, await readVersionOf(theirs))).toEqual(granted);
        },
      );

      it('supersedes a write if another one was in flight at its read version', async () => {
        const log = await sending(ours, 7n);
        const since = await readVersionOf(theirs);
        await settled(log, { row: 1, petId: 7n, result: 'applied', quantity: 8 });
        expect(await intendSeven(theirs, since)).toMatchObject([{ kind: 'superseded', run: log.run }]);
      });

      it('supersedes a write if an unknown write may arrive after its read version', async () => {
        const log = await write(ours, 7n, { result: 'unknown' });
        await pass(timeout - 1);
        const tooEarly = await readVersionOf(theirs);
        await pass(1);
        expect(await intendSeven(theirs, tooEarly)).toMatchObject([{ kind: 'superseded', run: log.run }]);
        expect(await intendSeven(theirs, await readVersionOf(theirs))).toEqual(granted);
      });

      it.each(['failed', 'conflict', 'unchanged', 'void'] as const)(
        'does not supersede a write if another one got the outcome %s after its read version',
        async (result) => {
          const since = await readVersionOf(theirs);
          await write(ours, 7n, { result });
          expect(await intendSeven(theirs, since)).toEqual(granted);
        },
      );

      it('supersedes only the rows whose pets were written, even if the run that wrote them was removed', async () => {
        const since = await readVersionOf(theirs);
        const [log, removed] = [await write(ours, 7n), await write(ours, 9n)];
        await log.end();
        await removed.end();
        expect(await ours.history.remove([{ run: removed.run, serviceName }])).toBe(1);
        const rows = [7n, 8n, 9n].map((petId, index) => [index + 1, petId] as const);
        expect(await intend(await begin(theirs, 7n, 8n, 9n), rows, since)).toEqual([
          { kind: 'superseded', run: log.run, command: 'inventory apply' },
          ...granted,
          { kind: 'superseded', run: undefined, command: 'history prune' },
        ]);
      });

      it.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
        'supersedes a write by the last of three removed runs, removed in the order %j',
        async (order) => {
          const runs: RunLog[] = [];
          let since: ReadVersion | undefined;
          for (const quantity of [1, 2, 3]) {
            since = await readVersionOf(theirs);
            runs.push(await write(ours, 7n, { quantity }));
          }
          for (const log of runs) await log.end();
          for (const index of order) {
            const { run = '' } = runs[index] ?? {};
            expect(await ours.history.remove([{ run, serviceName }])).toBe(1);
          }
          expect(await intendSeven(theirs, since)).toEqual([
            { kind: 'superseded', run: undefined, command: 'history prune' },
          ]);
        },
      );

      it('does not supersede a write by its own run', async () => {
        const log = await begin(theirs, 7n, 7n);
        const since = await readVersionOf(theirs);
        await intend(log, [[1, 7n]], since);
        await log.settle([{ row: 1, petId: 7n, result: 'applied' }]);
        expect(await intend(log, [[2, 7n]], since)).toEqual(granted);
      });
    });

    describe('history', () => {
      it('stores every digit of an id', async () => {
        for (const petId of [largest, smallest, 9_007_199_254_740_993n, 0n]) {
          const log = await write(ours, petId);
          expect(await rowsOf(log)).toMatchObject([{ petId }]);
          expect((await runOf(log)).pets).toEqual([petId]);
          expect(await lastKnown(theirs, petId)).toBe(8);
        }
      });

      it('stores the details of a run, and counts its rows', async () => {
        const head = {
          user: undefined,
          store: 'north',
          file: 'a.csv',
          contentHash: 'ff',
          hasDeltas: true,
          reason: 'count',
          unchanged: 4,
          skipped: 2,
          notEdited: 7,
        };
        const error = { code: 'pet_not_found', message: 'no such pet', status: 404 };
        const rows = [
          rowFor(1n),
          rowFor(2n, { row: 2, before: undefined }),
          rowFor(3n, { row: 3, after: 0, outcome: { result: 'failed', error } }),
        ];
        const log = await ours.history.begin(headOf(head), rows);
        expect(await runOf(log)).toEqual({
          ...headOf(head),
          undoes: undefined,
          run: log.run,
          at: clock.now(),
          host: 'till',
          undoneBy: [],
          undone: 0,
          changes: 3,
          units: 8n,
          pets: [1n, 2n, 3n],
          state: 'running',
          isDiscarded: false,
          counts: {
            pending: 2,
            applied: 0,
            unchanged: 4,
            failed: 1,
            conflict: 0,
            differs: 0,
            unknown: 0,
            skipped: 2,
            notEdited: 7,
          },
          began: expect.any(Number),
          sequence: expect.any(Number),
          touched: expect.any(Number),
        });
        expect((await collect(theirs.history.rows(log.run, ['failed'])))[0]).toMatchObject({ row: 3, error });
      });

      it('numbers rows that were settled when their run began, in the order of all writes', async () => {
        await write(ours, 9n);
        const outcome = (result: 'failed' | 'conflict') => ({ result, error: { code: 'x', message: 'no' } });
        const planned = [rowFor(1n), rowFor(2n, { row: 2, outcome: outcome('failed') })];
        await ours.history.begin(headOf(), [...planned, rowFor(3n, { row: 3, outcome: outcome('conflict') })]);
        await write(theirs, 8n);
        const rows = (await collect(theirs.history.settled())).map(({ row }) => row);
        expect(rows.map(({ petId }) => petId)).toEqual([9n, 2n, 3n, 8n]);
        expect(new Set(rows.map(({ touched }) => touched)).size).toBe(4);
      });

      it('shows each recorded outcome, and a sent row without an outcome as unknown', async () => {
        const log = await sending(ours, 1n, 2n, 3n);
        // Its process lives, so its notes don't show what was never sent.
        expect((await rowsOf(log)).map(({ result }) => result)).toEqual(Array(3).fill('unknown'));
        expect((await runOf(log)).counts).toMatchObject({ unknown: 3, pending: 0 });
        const error = { code: 'conflict', message: 'it moved' };
        await log.settle([
          { row: 1, petId: 1n, result: 'differs', quantity: 100 },
          { row: 2, petId: 2n, result: 'conflict', error },
        ]);
        await log.end();
        expect(await rowsOf(log)).toMatchObject([
          { result: 'differs', quantity: 100, at: clock.now() },
          { result: 'conflict', error, quantity: undefined },
          { result: 'unknown', inFlightUntil: clock.monotonic() + timeout },
        ]);
        const counts = { differs: 1, conflict: 1, unknown: 1 };
        expect(await runOf(log)).toMatchObject({ state: 'incomplete', counts });
        expect(await ours.check()).toEqual([]);
        await pass(timeout + 1);
        expect((await rowsOf(log))[2]).toMatchObject({ result: 'unknown', inFlightUntil: undefined });
      });

      it('keeps an outcome that arrives while other outcomes are being written', async () => {
        const log = await begin(ours, 1n, 2n, 3n);
        await intend(log, [
          [1, 1n],
          [2, 2n],
        ]);
        await log.settle([{ row: 1, petId: 1n, result: 'applied' }]);
        const intending = intend(log, [[3, 3n]]);
        for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
        await log.settle([{ row: 2, petId: 2n, result: 'applied' }]);
        await intending;
        await log.settle([{ row: 3, petId: 3n, result: 'applied' }]);
        await log.end();
        expect((await runOf(log)).counts).toMatchObject({ applied: 3, unknown: 0 });
      });

      it('writes outcomes after a delay of 50 ms', async () => {
        const log = await sending(ours, 7n);
        await log.settle([{ row: 1, petId: 7n, result: 'applied' }]);
        expect((await runOf(log)).counts.applied).toBe(0);
        await pass(50);
        expect((await runOf(log)).counts.applied).toBe(1);
      });

      it('lists runs newest first, filtered as requested', async () => {
        const runs: string[] = [];
        for (const [index, env] of ['staging', 'production', 'staging'].entries()) {
          runs.push((await write(ours, BigInt(index), {}, { env })).run);
          await pass(1000);
        }
        const list = async (filter = {}) =>
          (await collect(theirs.history.runs(filter))).map(({ run }) => runs.indexOf(run));
        expect(await list()).toEqual([2, 1, 0]);
        expect(await list({ limit: 2 })).toEqual([2, 1]);
        expect(await list({ env: 'production' })).toEqual([1]);
        expect(await list({ petId: 0n })).toEqual([0]);
        expect(await list({ since: clock.now() - 2000 })).toEqual([2, 1]);
        expect(await list({ until: clock.now() - 2000 })).toEqual([1, 0]);
        expect(await list({ state: 'running' })).toEqual([2, 1, 0]);
        expect(await list({ state: 'done' })).toEqual([]);
      });

      it('finds a run by its id or the last characters of it', async () => {
        const log = await write(ours, 7n);
        expect(await theirs.history.find(log.run.slice(-4).toUpperCase())).toMatchObject({ run: log.run });
        expect(await theirs.history.find(log.run)).toMatchObject({ run: log.run });
        const missing = '20200101T000000Z-aaaa';
        for (const name of ['nope-', 'zzz~'])
          await expect(theirs.history.find(name)).rejects.toMatchObject({ kind: 'usage' });
        await expect(theirs.history.find(missing)).rejects.toMatchObject({ kind: 'not-found' });
        await expect(theirs.history.run(missing)).rejects.toMatchObject({ kind: 'not-found' });
      });

      const ofFile = { contentHash: 'ff' };
      const runsOfFile = async (at = serviceName) =>
        (await theirs.history.runsOfFile(at, ofFile.contentHash)).map(({ run }) => run);

      it('repeats the check before a run begins if another run of its file has begun since', async () => {
        const others: RunLog[] = [];
        let asked = 0;
        const begun = await ours.history.begin(headOf(ofFile), rowsFor(7n), async () => {
          asked += 1;
          const newest = others.at(-1)?.run;
          if (asked <= 2) others.push(await write(theirs, 7n, {}, ofFile));
          return newest;
        });
        expect(asked).toBe(3);
        expect(await runsOfFile()).toEqual([...others, begun].map(({ run }) => run).toReversed());
        expect(await runsOfFile(elsewhere)).toEqual([]);
      });

      it('does not begin a run that the repeated check refuses', async () => {
        let other: RunLog | undefined;
        const mayBegin = async () => {
          if (other !== undefined) throw new Error('applied already');
          other = await write(theirs, 7n, {}, ofFile);
          return undefined;
        };
        const begun = ours.history.begin(headOf(ofFile), rowsFor(7n), mayBegin);
        await expect(begun).rejects.toThrow('applied already');
        expect(await runsOfFile()).toEqual([other?.run]);
      });

      it('lets only one process at a time resume or remove a run', async () => {
        const log = await write(ours, 7n);
        const run = { run: log.run, serviceName };
        for (const { history } of [ours, theirs])
          await expect(history.resume(log.run)).rejects.toMatchObject({ kind: 'conflict' });
        expect(await theirs.history.remove([run])).toBe(0);
        processes.kill(1);
        expect((await runOf(log)).state).toBe('done');
        const resumed = await theirs.history.resume(log.run);
        expect((await runOf(log)).state).toBe('running');
        await expect(intend(log, [[1, 7n]])).rejects.toMatchObject({ kind: 'conflict' });
        await resumed.end();
        expect(await theirs.history.remove([run])).toBe(1);
        expect(await collect(theirs.history.runs())).toEqual([]);
      });

      it('makes a resumed run wait for the request of the previous process', async () => {
        const { log, resumed } = await takenOver();
        expect(await intend(resumed, [[1, 7n]])).toEqual(busyWith(log.run, clock.monotonic() + timeout));
        await pass(timeout);
        expect(await intend(resumed, [[1, 7n]])).toEqual(granted);
      });

      it('does not let the previous process of a resumed run change a row that has an outcome', async () => {
        const { log, resumed } = await takenOver();
        await settled(resumed, { row: 1, petId: 7n, result: 'conflict' });
        await settled(log, { row: 1, petId: 7n, result: 'applied' });
        expect((await runOf(log)).counts).toMatchObject({ conflict: 1, applied: 0 });
      });

      it.each([
        ['void', 'unknown'],
        ['unknown', 'unknown'],
        ['failed', 'unknown'],
        ['applied', 'applied'],
      ] as const)(
        'keeps a pet leased to a resumed run even if the previous process records its row as %s',
        async (result, known) => {
          const { log, resumed } = await takenOver();
          await pass(timeout);
          expect(await intend(resumed, [[1, 7n]])).toEqual(granted);
          await settled(log, { row: 1, petId: 7n, result });
          expect((await runOf(log)).counts).toMatchObject({ pending: 0, [known]: 1 });
          expect(await intendSeven(theirs)).toEqual(busyWith(log.run));
          await resumed.settle([{ row: 1, petId: 7n, result: 'applied' }]);
          await resumed.end();
          expect((await runOf(log)).counts).toMatchObject({ applied: 1, unknown: 0 });
        },
      );

      it('decides through a chain of undos whether a row is undone', async () => {
        const chain = [await write(ours, 7n)];
        const undo = async () => chain.push(await write(ours, 7n, {}, { command: 'undo', undoes: chain.at(-1)?.run }));
        const undone = () => Promise.all(chain.map(async (log) => (await runOf(log)).undone));
        const [first] = chain as [RunLog];
        const undoneBy = async () => [(await runOf(first)).undoneBy, (await rowsOf(first)).map((row) => row.undoneBy)];
        await undo();
        expect(await undone()).toEqual([1, 0]);
        await undo();
        expect(await undone()).toEqual([0, 1, 0]);
        expect(await undoneBy()).toEqual([[], [undefined]]);
        await undo();
        expect(await undone()).toEqual([1, 0, 1, 0]);
        expect(await undoneBy()).toEqual([[chain[1]?.run], [chain[1]?.run]]);
      });

      it('keeps naming the undo of a run while one of its rows is still undone', async () => {
        const both = async (head: Partial<RunHead> = {}) => {
          const log = await ours.history.begin(headOf(head), rowsFor(7n, 8n));
          await intend(log, [
            [1, 7n],
            [2, 8n],
          ]);
          const outcome = { result: 'applied', quantity: 8 } as const;
          await settled(log, { ...outcome, row: 1, petId: 7n }, { ...outcome, row: 2, petId: 8n });
          return log;
        };
        const first = await both();
        const undo = await both({ command: 'undo', undoes: first.run });
        await write(ours, 7n, {}, { command: 'undo', undoes: undo.run });
        expect(await runOf(first)).toMatchObject({ undone: 1, undoneBy: [undo.run] });
      });

      it('returns the later writes of a row, except undone writes', async () => {
        const { run } = await write(ours, 7n);
        const second = await write(theirs, 7n, { quantity: 9 });
        await write(theirs, 7n, {}, { command: 'undo', undoes: second.run });
        const position = { row: 1, petId: 7n };
        const writesAfter = (rows: readonly (typeof position)[], at = serviceName) =>
          ours.petWrites.after({ serviceName: at, run }, rows);
        expect(await writesAfter([position])).toEqual([[]]);
        const third = await write(theirs, 7n, { result: 'differs', quantity: 11 });
        await write(theirs, 7n, { result: 'failed' });
        const later = [{ run: third.run, command: 'inventory apply', result: 'differs', quantity: 11, before: 5 }];
        expect(await writesAfter([position])).toEqual([later]);
        const another = { ...position, petId: largest };
        expect(await writesAfter([another, position, another])).toEqual([[], later, []]);
        expect(await writesAfter([position], elsewhere)).toEqual([[]]);
        expect(await writesAfter([])).toEqual([]);
        await third.end();
        expect(await ours.history.remove([{ run: third.run, serviceName }])).toBe(1);
        expect(await writesAfter([position])).toEqual([[{ command: 'history prune', result: 'pruned' }]]);
      });

      it('returns the writes of other runs since an unanswered row was sent', async () => {
        const log = await sending(ours, 7n, largest);
        await log.settle([{ row: 1, petId: 7n, result: 'unknown' }]);
        await pass(100_000);
        const [seven, other] = [
          { row: 1, petId: 7n },
          { row: 2, petId: largest },
        ];
        expect(await ours.petWrites.after({ serviceName, run: log.run }, [seven])).toEqual([[]]);
        const later = await write(theirs, 7n, { quantity: 9 });
        const written = { run: later.run, command: 'inventory apply', result: 'applied', quantity: 9, before: 5 };
        expect(await ours.petWrites.after({ serviceName, run: log.run }, [other, seven])).toEqual([[], [written]]);
        await log.end();
      });

      it('stores the stock that a delta was last based on', async () => {
        const log = await ours.history.begin(headOf(), [rowFor(7n, { delta: 3 }), rowFor(8n, { row: 2 })]);
        const rebased = { before: 40, after: 43 };
        const inFlightUntil = clock.monotonic() + timeout;
        await log.intend(
          [
            { row: 1, petId: 7n, inFlightUntil, rebased },
            { row: 2, petId: 8n, inFlightUntil },
          ],
          undefined,
        );
        await log.end();
        expect(await rowsOf(log)).toMatchObject([
          { delta: 3, ...rebased },
          { delta: undefined, before: 5, after: 8 },
        ]);
      });

      it('lists recent writes, oldest first', async () => {
        await write(ours, 7n, { quantity: 3 });
        await pass(60_000);
        await write(theirs, 8n, { result: 'differs', quantity: 4 });
        await write(ours, largest, { quantity: 6 });
        const sequence = expect.any(Number);
        const first = { petId: 8n, result: 'differs', before: 5, quantity: 4, sequence };
        const last = { petId: largest, result: 'applied', before: 5, quantity: 6, sequence };
        expect((await ours.pets.beginRead(serviceName)).writes).toEqual([first, last]);
        expect((await ours.pets.beginRead(serviceName, [7n, largest])).writes).toEqual([last]);
        expect((await ours.pets.beginRead(elsewhere)).writes).toEqual([]);
      });

      it('lists more recent writes than one page has', async () => {
        const pets = Array.from({ length: 501 }, (_, index) => ({ row: index + 1, petId: BigInt(index + 1) }));
        const log = await ours.history.begin(headOf(), rowsFor(...pets.map(({ petId }) => petId)));
        const granted = await intend(
          log,
          pets.map(({ row, petId }) => [row, petId]),
        );
        expect(granted).toHaveLength(501);
        await settled(log, ...pets.map((pet) => ({ ...pet, result: 'applied', quantity: 8 }) as const));
        expect((await ours.pets.beginRead(serviceName)).writes).toHaveLength(501);
      });

      it.each(['applied', 'differs'] as const)('lists a slow write for 15 s after the outcome %s', async (result) => {
        const log = await sending(ours, 7n);
        await pass(timeout - 1000);
        await settled(log, { row: 1, petId: 7n, result, quantity: 4 });
        const writes = async () => (await theirs.pets.beginRead(serviceName)).writes.length;
        await pass(14_000);
        expect(await writes()).toBe(1);
        await pass(2000);
        expect(await writes()).toBe(0);
      });

      it('returns the last known stock of many pets in the requested order', async () => {
        await write(ours, 7n, { quantity: 3 });
        const [row] = await rowsOf(await write(theirs, 7n, { quantity: 8 }));
        await write(ours, largest, { quantity: 5 });
        const pets = [{ petId: largest }, { petId: 6n }, { petId: 7n, before: row?.sequence }, { petId: 7n }];
        expect(await ours.petWrites.lastKnown(serviceName, pets)).toEqual([5, undefined, 3, 8]);
        expect(await ours.petWrites.lastKnown(elsewhere, pets)).toEqual(pets.map(() => undefined));
      });

      it('does not know the stock before a row if an earlier unknown write was settled after the row', async () => {
        await write(ours, 7n, { quantity: 3 });
        const lost = await write(ours, 7n, { result: 'unknown' });
        const [row] = await rowsOf(await write(theirs, 7n, { quantity: 9 }));
        const knownBefore = async () =>
          (await ours.petWrites.lastKnown(serviceName, [{ petId: 7n, before: row?.sequence }]))[0];
        expect(await knownBefore()).toBeUndefined();
        await settled(lost, { row: 1, petId: 7n, result: 'applied', quantity: 8 });
        expect(await knownBefore()).toBeUndefined();
        expect(await lastKnown(theirs, 7n)).toBe(9);
      });

      it('does not know the stock of a pet after a write of unknown outcome', async () => {
        expect(await lastKnown(ours, 7n)).toBeUndefined();
        await ours.history.begin(headOf(), [rowFor(7n, { before: 3 })]);
        expect(await lastKnown(ours, 7n)).toBe(3);
        await write(ours, 7n, { result: 'differs', quantity: 11 });
        expect(await lastKnown(theirs, 7n)).toBe(11);
        await write(ours, 7n, { result: 'unknown', quantity: undefined });
        expect(await lastKnown(theirs, 7n)).toBeUndefined();
      });
    });

    describe('presence', () => {
      const present = () => theirs.presence.list();

      it('begins presence with the first write, and keeps it while it is renewed', async () => {
        expect(await present()).toEqual([]);
        expect(ours.presence.holdsLease).toBe(true);
        await lockOf(ours).tryAcquire();
        for (let round = 0; round < 5; round += 1) {
          await pass(5000);
          await Promise.resolve();
        }
        expect(await present()).toMatchObject([{ process: { pid: 1, host: 'till' }, command: 'test' }]);
        await ours.close();
        expect(await present()).toEqual([]);
      });

      it('ends presence with the last run or lock, and begins it again with the next', async () => {
        const lock = lockOf(ours, 8n);
        await lock.tryAcquire();
        await (await begin(ours, 7n)).end();
        expect(await present()).toHaveLength(1);
        await lock.release();
        const last = await begin(ours, 9n);
        const [, next] = await Promise.all([last.end(), begin(ours, 10n)]);
        expect(await present()).toHaveLength(1);
        await next.end();
        expect(await present()).toEqual([]);
      });

      it('keeps presence if a run is taken over just when the last run ends', async () => {
        for (let hops = 0; hops < 40; hops += 1) {
          const pid = 100 + hops;
          const { run } = await begin(await open(pid), 7n);
          processes.kill(pid);
          const last = await begin(ours, 8n);
          const resuming = ours.history.resume(run);
          for (let hop = 0; hop < hops; hop += 1) await Promise.resolve();
          const [resumed] = await Promise.all([resuming, last.end()]);
          expect(await present(), `${hops}`).toMatchObject([{ process: { pid: 1 } }]);
          await resumed.end();
        }
      });

      it('ends presence with its lease, and ignores a late renewal', async () => {
        await lockOf(ours).tryAcquire();
        clock.stop(15_000);
        expect(await present()).toEqual([]);
        await pass(0);
        expect(ours.presence.holdsLease).toBe(false);
        expect(await present()).toEqual([]);
      });

      it('ends presence and leases from before a reboot 15 s after a process has first seen them', async () => {
        await lockOf(ours).tryAcquire();
        clock = createStateClock('boot-2');
        const restarted = await open(1);
        const left = async () => (await restarted.presence.list()).filter(({ process }) => process.boot === 'boot-1');
        expect(await left()).toHaveLength(1);
        await pass(14_900);
        const lock = lockOf(restarted);
        expect(await lock.tryAcquire()).toBeDefined();
        await pass(200);
        expect(await left()).toEqual([]);
        expect(await lock.tryAcquire()).toBeUndefined();
      });
    });
  });
}
