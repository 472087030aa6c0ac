import { expect, test } from 'vitest';
import type { BulkRow } from '../../src/inventory/change.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import type { PlannedRow, RunHead } from '../../src/inventory/run-records.ts';
import { execute, type RunPlan, requireWithinGuards } from '../../src/runs/execute.ts';
import type { RunContext } from '../../src/runs/run-context.ts';
import { NotFoundError, UnavailableError } from '../../src/shared/errors.ts';
import type { FinalOutcome } from '../../src/writes/row-write.ts';
import { rowsOf, type ShopScript, simulatedShop } from '../writes/simulated-shop.ts';

const row = (result: BulkRow['result'], after = 7): BulkRow =>
  ({ line: 1, petId: 4n, before: 5, after, result, reason: undefined, ref: undefined }) as BulkRow;
const guards = { maxChanges: undefined, maxZero: undefined };

/** Carries out a plan in which no row is to be written. */
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

interface Script extends ShopScript {
  /** The age of the stock that was read, in milliseconds. */
  readonly age?: number;
  readonly end?: () => Promise<void>;
  readonly found?: () => Promise<unknown>;
  readonly isSingle?: boolean;
  readonly hasBegun?: boolean;
  readonly row?: Partial<BulkRow>;
  /** Further rows of the plan. */
  readonly others?: readonly BulkRow[];
  readonly maxZero?: number;
  /** The stock that is found if it is read again. */
  readonly stock?: number;
}

/** Carries out a plan of one row in a simulated shop. */
async function wrote({ age = 0, end, found, isSingle = false, hasBegun = true, stock: again, ...script }: Script) {
  const { options, clock, sent, outcomes } = simulatedShop(rowsOf(1), script);
  const calls: unknown[] = [];
  const log = { ...options.log, run: 'r1', hasBegun, end: end ?? (async () => {}) };
  const begin = async (head: RunHead, planned: Iterable<PlannedRow>) => {
    calls.push([head.command, [...planned].map(({ petId }) => petId)]);
    return log;
  };
  const context = {
    ...options,
    target: { env: 'staging' },
    client: {
      ...options.client,
      async *scanInventory() {
        if (again === undefined) throw new UnavailableError('no list');
        yield [{ petId: 1n, quantity: again, status: 'sold' }];
      },
    },
    state: {
      presence: options.presence,
      pets: { beginRead: async () => ({ readVersion: { sequence: 0, at: 0 }, writes: [] }) },
      petWrites: { after: (_: unknown, rows: Parameters<typeof options.writesSince>[0]) => options.writesSince(rows) },
      history: { begin, beginLater: begin, run: found ?? (async () => {}), readVersion: async () => undefined },
    },
  } as unknown as RunContext;
  const rows = [{ ...row('planned', 100), petId: 1n, before: 0, ...script.row }, ...(script.others ?? [])];
  const stock = { readVersion: { sequence: 0, at: 0 }, readAt: clock.monotonic() - age };
  const single = isSingle ? {} : undefined;
  const plan = { subject: { command: 'inventory set' }, rows, stock, single } as unknown as RunPlan;
  const hooks = {
    onBegin: async (run: string | undefined, count: number) => void calls.push([run, count]),
    onSettled: ({ result }: FinalOutcome) => void calls.push(result),
    onItem: ({ quantity }: InventoryItem) => void calls.push(quantity),
    onEnd: async () => void calls.push('end'),
  };
  const limits = { ...guards, maxZero: script.maxZero };
  const runOptions = { dryRun: false, failFast: false, concurrency: 1, guards: limits };
  const { report, error } = await execute(context, plan, runOptions, hooks);
  const { result, error: rowError } = report.rows[0] ?? {};
  return { calls, sent, outcomes, run: report.run, result, rowError, error };
}

const begun = ['inventory set', [1n]];

test('records a run, writes its rows, and reports each step', async () => {
  const { calls, sent, run, result, error } = await wrote({});
  expect(calls).toEqual([begun, ['r1', 1], 100, 'applied', 'end']);
  expect([sent, run, result, error]).toEqual([[1], 'r1', 'applied', undefined]);
});

test('returns null as the run of a single write if nothing was recorded', async () => {
  const { calls, run, error } = await wrote({ isSingle: true, hasBegun: false, requests: new Map([[1, ['401']]]) });
  expect(calls).toEqual([begun, [undefined, 1], 'end']);
  expect([run, error?.name, error?.run]).toEqual([null, 'AuthError', undefined]);
});

test.each([true, false])('records a refused row as failed only in a single write: %s', async (isSingle) => {
  const { outcomes, result, error } = await wrote({ isSingle, requests: new Map([[1, ['401']]]) });
  expect(result).toBe(isSingle ? 'failed' : 'notAttempted');
  expect(outcomes.filter((outcome) => outcome.result === 'failed')).toHaveLength(isSingle ? 1 : 0);
  expect(error?.run).toBe('r1');
});

test.each([
  [5000, [1]],
  [5001, []],
])('rereads a stock over 5 s old when a plan is confirmed: %i ms (requests: %j)', async (age, requests) => {
  expect((await wrote({ age })).sent).toEqual(requests);
});

const sale: Partial<BulkRow> = { before: 2, after: 1, delta: -1 };
test.each<[number | undefined, Partial<BulkRow>, number, string]>([
  [undefined, sale, 1, 'applied'],
  [0, sale, 1, 'conflict'],
  [1, sale, 1, 'applied'],
  [0, sale, 3, 'applied'],
  [1, { before: 1, after: 0, delta: -1 }, 1, 'applied'],
])('applies --max-zero %s to a stock that was read again: %j on %i: %s', async (maxZero, change, stock, result) => {
  const written = await wrote({ age: 5001, row: change, stock, ...(maxZero !== undefined && { maxZero }) });
  expect(written.result).toBe(result);
});

test.each(['notEdited', 'skipped'] as const)(
  'reports a lost write as applied if a reread shows it, even beside a row that is %s',
  async (beside) => {
    const requests = new Map([[1, [...Array<'unreachable'>(4).fill('unreachable'), 'committed, lost' as const]]]);
    const { result, error } = await wrote({ row: { before: undefined }, requests, stock: 100, others: [row(beside)] });
    expect([result, error]).toEqual(['applied', undefined]);
  },
);

const lost = new UnavailableError('no state');
test.each<[string, Script, string | null, string | undefined]>([
  ['is in the history', {}, 'r1', 'PartialError'],
  ['is no longer in the history', { found: () => Promise.reject(new NotFoundError('no run')) }, null, 'FailureError'],
  ["can't be read", { found: () => Promise.reject(lost) }, 'r1', 'PartialError'],
])('reports whether a run whose end was not recorded can be resumed, if it %s', async (_, script, run, name) => {
  const ended = await wrote({ end: () => Promise.reject(lost), ...script });
  expect([ended.run, ended.result, ended.error?.name]).toEqual([run, 'applied', name]);
});

test('refuses a resumed plan beyond its limits before anything is recorded', async () => {
  const plan = { rows: [row('planned'), row('planned')], resumed: { outcomes: [] } } as unknown as RunPlan;
  const options = { dryRun: true, failFast: false, concurrency: 1, guards: { ...guards, maxChanges: 1 } };
  await expect(execute({} as RunContext, plan, options)).rejects.toThrow('Nothing more was written');
});
