import { expect, test } from 'vitest';
import type { BulkRow } from '../../src/inventory/change.ts';
import { execute, type RunPlan, requireWithinGuards } from '../../src/runs/execute.ts';
import type { RunContext } from '../../src/runs/run-context.ts';
import { UnavailableError } from '../../src/shared/errors.ts';

const row = (result: BulkRow['result'], after = 7): BulkRow =>
  ({ line: 1, petId: 4n, before: 5, after, result, reason: undefined, ref: undefined }) as BulkRow;
const guards = { maxChanges: undefined, maxZero: undefined };

/** Carries out a plan of which no row is to be written. */
async function ended(rows: BulkRow[], dryRun: boolean, end?: () => Promise<void>) {
  const log: unknown[] = [];
  const outcomes = [{ row: 1, petId: 4n, result: 'applied' }];
  const run = { settle: (settled: unknown) => log.push(settled), end: end ?? (async () => void log.push('end')) };
  const resumed = {
    run: 'r1',
    log: run,
    numbers: [1],
    outcomes,
    uncounted: { unchanged: 2, skipped: 0, notEdited: 0 },
  };
  const plan = { subject: { command: 'undo' }, rows, stock: undefined, ...(end && { resumed }) } as unknown as RunPlan;
  const hooks = {
    onPlan: async () => void log.push('plan'),
    confirm: async () => void log.push('confirm'),
    onBegin: async () => void log.push('begin'),
  };
  const options = { dryRun, failFast: false, concurrency: 1, guards };
  const { report, error } = await execute({ target: { env: 'staging' } } as RunContext, plan, options, hooks);
  return { log, report, error, outcomes };
}

test('shows the plan of a dry run without recording or confirming it', async () => {
  const rows = [row('planned')];
  const { log, report, error } = await ended(rows, true);
  expect(log).toEqual(['plan']);
  expect(report).toEqual({ run: null, env: 'staging', dryRun: true, rows, uncounted: undefined });
  expect(error).toBeUndefined();
});

test('records outcomes found by a resumed run even if no row is left to write', async () => {
  const { log, report, error, outcomes } = await ended([row('applied')], false, async () => {});
  expect(log).toEqual(['plan', outcomes]);
  expect(report).toMatchObject({ run: 'r1', dryRun: false, uncounted: { unchanged: 2 } });
  expect(error).toBeUndefined();
});

test('reports that the history may lack outcomes found by a resumed run', async () => {
  const { error } = await ended([row('applied')], false, () => Promise.reject(new UnavailableError('no state')));
  expect(error?.message).toBe('All changes were written, but the history may be incomplete: no state');
});

test('reports that a resumed run wrote nothing more', async () => {
  const { error } = await ended([row('conflict')], false, async () => {});
  expect(error?.message).toMatch(/^Nothing more was written: /);
});

test.each([
  [{ maxChanges: 1, maxZero: undefined }, false, 'Nothing was written'],
  [{ maxChanges: undefined, maxZero: 0 }, true, 'Nothing more was written'],
])('rejects a plan beyond its limits %j', (limits, isResumed, end) => {
  const rows = [row('planned'), row('planned', 0)];
  expect(() => requireWithinGuards(rows, limits, isResumed)).toThrow(end);
  expect(() => requireWithinGuards(rows, { maxChanges: 2, maxZero: 1 }, isResumed)).not.toThrow();
});
