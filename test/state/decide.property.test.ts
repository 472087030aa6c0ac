import { expect, test } from 'vitest';
import { possibleWrites, recordedResults } from '../../src/inventory/run-records.ts';
import {
  blockedBy,
  type ConcurrentWrite,
  hasLostWrites,
  isAlive,
  type Lease,
  nextResult,
  type PrunableRun,
  removableRuns,
  supersededBy,
} from '../../src/state/decide.ts';
import type { Outcome } from '../../src/state/intents-and-outcomes.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

// A hundred times as many cases as in other properties, because each takes microseconds.
const numRuns = 100 * Number(process.env.PETSTOCK_RUNS ?? 20);
const time = fc.integer({ min: 0, max: 20 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const result = fc.constantFrom(...recordedResults);
const results: readonly Outcome['result'][] = [
  'applied',
  'unchanged',
  'failed',
  'conflict',
  'differs',
  'unknown',
  'void',
];
const outcome = fc.constantFrom(...results);
const identity = { host: 'till', namespace: 'pid:[1]', boot: 'b', pid: 1, startedAt: '1' };

const lease: fc.Arbitrary<Lease> = fc.record({
  owner: fc.constantFrom('run-1', 'run-2', 'place-1'),
  run: maybe(fc.constantFrom('run-1', 'run-2')),
  holder: maybe(fc.constantFrom('me', 'other')),
  isHeld: fc.boolean(),
  inFlightUntil: maybe(time),
});

property(
  'blocks a pet only while another process holds it or may have a request in flight',
  [lease, time, fc.subarray(['run-1', 'place-1'])],
  { numRuns },
  (held, now, owners) => {
    const busy = blockedBy(held, owners, 'me', now);
    const isOurs = owners.includes(held.owner);
    const mayArrive = held.inFlightUntil !== undefined && held.inFlightUntil > now;
    if (isOurs && (held.holder === undefined || held.holder === 'me')) expect(busy).toBeUndefined();
    else if (!isOurs && held.isHeld) expect(busy).toEqual({ run: held.run, until: undefined });
    else expect(busy).toEqual(mayArrive ? { run: held.run, until: held.inFlightUntil } : undefined);
    expect(blockedBy(undefined, owners, 'me', now)).toBeUndefined();
  },
);

property(
  'counts a process as alive while its lease lasts, unless the process is known to be gone',
  [time, time, fc.boolean()],
  { numRuns },
  (ends, now, isGone) => {
    expect(isAlive({ identity, ends }, now, () => isGone)).toBe(ends > now && !isGone);
  },
);

const writer: fc.Arbitrary<ConcurrentWrite> = fc.record({
  run: fc.constantFrom('run-2', 'run-3'),
  command: fc.constant('inventory apply'),
  result,
  touched: time,
  inFlightUntil: maybe(time),
});

property(
  'supersedes a write if a later write is known or possible, or was removed',
  [fc.array(writer), maybe(time), time, time],
  { numRuns },
  (writers, pruned, sequence, at) => {
    const overtaken = supersededBy(writers, pruned, { sequence, at });
    const counts = ({ result: became, touched, inFlightUntil }: ConcurrentWrite) =>
      (touched > sequence && possibleWrites.includes(became)) || (became === 'unknown' && (inFlightUntil ?? 0) > at);
    expect(overtaken !== undefined).toBe(writers.some(counts) || (pruned ?? 0) > sequence);
    // A further write that has failed changes nothing.
    const failed = { run: 'run-9', command: 'undo', result: 'failed', touched: 99, inFlightUntil: undefined } as const;
    expect(supersededBy([...writers, failed], pruned, { sequence, at })).toEqual(overtaken);
  },
);

property(
  'ignores a repeated outcome, and on a taken-over row all but applied or differs after unknown',
  [result, outcome, fc.boolean()],
  { numRuns },
  (known, became, isTakenOver) => {
    const next = nextResult(known, became, isTakenOver);
    const isAnswer = became === 'applied' || became === 'differs';
    if (isTakenOver && !(known === 'unknown' && isAnswer)) expect(next).toBeUndefined();
    else if (next === undefined) expect(known).toBe(became === 'void' ? 'pending' : became);
    if (next !== undefined && next !== 'unknown') expect(nextResult(next, became, isTakenOver)).toBeUndefined();
  },
);

const history: fc.Arbitrary<PrunableRun[]> = fc
  .array(
    fc.record({
      state: fc.constantFrom('running' as const, 'done' as const, 'done' as const, 'incomplete' as const),
      undoes: maybe(fc.integer({ min: 0, max: 7 })),
      lasts: fc.integer({ min: 1, max: 12 }),
    }),
    { maxLength: 8 },
  )
  .map((runs) =>
    runs.map(({ state, undoes, lasts }, index) => ({
      run: `run-${index}`,
      state,
      began: index * 4,
      touched: index * 4 + lasts,
      // The run that it undoes may have been removed.
      undoes: undoes === undefined ? undefined : undoes < index ? `run-${undoes}` : 'run-gone',
    })),
  )
  .chain((runs) => fc.shuffledSubarray(runs, { minLength: runs.length }));

property(
  'prunes neither a run that another run may still need nor the undo of a run that remains',
  [history, fc.array(fc.integer({ min: 0, max: 7 }))],
  { numRuns },
  (all, indexes) => {
    const wanted = new Set(indexes.map((index) => `run-${index}`));
    const removed = removableRuns(all, wanted);
    const gone = new Set(removed);
    expect(removed).toEqual(all.flatMap(({ run }) => (gone.has(run) ? [run] : [])));
    const left = all.filter(({ run }) => !gone.has(run));
    for (const { run } of all) if (gone.has(run)) expect(wanted.has(run)).toBe(true);
    const open = left.filter(({ state, run }) => state === 'running' || (state === 'incomplete' && !wanted.has(run)));
    const relying = [...open, ...left.filter(({ run }) => open.some(({ undoes }) => undoes === run))];
    for (const { run, touched, state, undoes } of all) {
      if (!gone.has(run)) continue;
      expect(state).not.toBe('running');
      expect(open.map((other) => other.undoes)).not.toContain(run);
      for (const { began } of relying) expect(touched).toBeLessThanOrEqual(began);
      expect(left.some((other) => other.run === undoes)).toBe(false);
    }
    // Each selected run that is kept has one of three reasons.
    const floor = Math.min(...relying.map(({ began }) => began));
    for (const run of left) {
      const isUndoOfOther = left.some((other) => other.run === run.undoes);
      if (wanted.has(run.run)) expect(open.includes(run) || run.touched > floor || isUndoOfOther).toBe(true);
    }
  },
);

const mark = { sequence: 4, at: 100 };
const written = (run: string, touched: number, changes: Partial<ConcurrentWrite> = {}): ConcurrentWrite => ({
  run,
  command: 'inventory set',
  result: 'applied',
  touched,
  inFlightUntil: undefined,
  ...changes,
});
const lost = (inFlightUntil: number) => written('a', 4, { result: 'unknown', inFlightUntil });
const by = (run: string) => ({ run, command: 'inventory set' });
const byPrune = { run: undefined, command: 'history prune' };

test.each<[string, readonly ConcurrentWrite[], number | undefined, ReturnType<typeof supersededBy>]>([
  ['the newest of several', [written('a', 5), written('b', 7), written('c', 6)], 9, by('b')],
  ['none that arrived by the read version', [lost(100)], undefined, undefined],
  ['one that may arrive after the read version', [lost(101)], undefined, { ...by('a'), inFlightUntil: 101 }],
  ['one whose row was removed', [], 5, byPrune],
  ['none that was removed before the read', [], 4, undefined],
])('decides which write supersedes another: %s', (_what, writers, pruned, expected) => {
  expect(supersededBy(writers, pruned, mark)).toEqual(expected);
});

test.each<[number, number, number | 'none', boolean]>([
  [5, 5, 'none', false],
  [4, 5, 'none', true],
  [5, 3, 6, true],
  [5, 6, 3, true],
  [6, 6, 6, false],
])('reports lost writes (last number %i, number seen %i, read version %s): %s', (last, seen, read, isLost) => {
  const since = read === 'none' ? undefined : { ...mark, sequence: read };
  expect(hasLostWrites(last, seen, since)).toBe(isLost);
});

test('removes an undo if its run is gone or removed, but not if the run stays', () => {
  const run = (id: number, undoes?: number): PrunableRun => ({
    run: `run-${id}`,
    state: 'done',
    began: id,
    touched: id,
    undoes: undoes === undefined ? undefined : `run-${undoes}`,
  });
  const all = [run(3, 1), run(1), run(4, 2), run(2), run(5, 9)];
  expect(removableRuns(all, new Set(['run-1', 'run-3', 'run-4', 'run-5']))).toEqual(['run-3', 'run-1', 'run-5']);
});
