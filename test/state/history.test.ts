import { describe, expect, it, test } from 'vitest';
import type { History } from '../../src/state/history.ts';
import {
  countersOf,
  intend,
  lastIntent,
  lastWriteOf,
  lastWritten,
  otherWriteOf,
  settle,
  writtenElsewhere,
} from '../../src/state/intents.ts';
import type { OpenRun, Row } from '../../src/state/open-run.ts';
import { type UndoingRow, undoneRows } from '../../src/state/recorded-runs.ts';
import type { Store } from '../../src/state/state-store.ts';
import {
  ann,
  collect,
  engines,
  headOf,
  historyOf,
  newState,
  rowFor,
  rowsFor,
  type SharedState,
  service,
} from './rig.ts';

/** Records intents of rows as a turn does. */
async function send(store: Store, run: OpenRun, rows: readonly Row[] = run.rows): Promise<void> {
  await store.transact([lastIntent(run.service)], ([counters], moment) => {
    return { writes: intend(run, rows, countersOf(counters).last, moment, 1000), result: undefined };
  });
}

async function record(
  store: Store,
  run: OpenRun,
  fields: Partial<Row>,
  rows: readonly Row[] = run.rows,
): Promise<void> {
  for (const row of rows) Object.assign(row, { inFlightUntil: undefined, ...fields });
  await store.transact([], (_answers, moment) => ({ writes: settle(run, rows, moment), result: undefined }));
}

interface Opened {
  readonly state: SharedState;
  readonly store: Store;
  readonly history: History;
}

async function opened(engine: (typeof engines)[number]): Promise<Opened> {
  const state = await newState(engine);
  const store = await state.open();
  return { state, store, history: historyOf(store) };
}

const resultsOf = async ({ history }: Opened, run: string) =>
  (await collect(history.rows(run))).map(({ result }) => result);

describe.each(engines)('the history in %s', (engine) => {
  it('shows a run with its head, counts and rows', async () => {
    const at = await opened(engine);
    const { history, store } = at;
    const error = { code: 'conflict', message: 'the stock is 3' };
    const planned = [
      rowFor(2n ** 63n - 1n, { delta: 3, reason: 'count', ref: 'D-1' }),
      rowFor(2n, { row: 2, line: 7, outcome: { result: 'conflict', error } }),
      rowFor(3n, { row: 3, before: undefined }),
    ];
    const head = {
      file: 'a.csv',
      contentHash: 'ab',
      store: 'north',
      unchanged: 4,
      skipped: 1,
      reason: 'why',
    };
    const run = await history.begin(headOf(head), planned);
    expect(await history.run(run.run)).toMatchObject({
      ...headOf(head),
      state: 'running',
      changes: 3,
      units: undefined,
      began: 0,
    });
    await send(store, run, run.rows.slice(0, 1));
    await record(store, run, { result: 'applied', quantity: 8 }, run.rows.slice(0, 1));
    await history.end(run);
    const shown = await history.find(run.run.slice(-4));
    expect(shown).toMatchObject({ state: 'incomplete', pets: [2n ** 63n - 1n, 2n, 3n], isDiscarded: false });
    expect(shown.counts).toMatchObject({ applied: 1, conflict: 1, pending: 1, unchanged: 4, skipped: 1, unknown: 0 });
    expect(await collect(history.rows(run.run))).toMatchObject([
      { petId: 2n ** 63n - 1n, result: 'applied', quantity: 8, intent: 1, delta: 3, reason: 'count', ref: 'D-1' },
      { petId: 2n, result: 'conflict', error, line: 7, intent: undefined },
      { petId: 3n, result: 'pending', before: undefined, outcome: undefined },
    ]);
    expect(await collect(history.rows(run.run, ['pending', 'conflict']))).toHaveLength(2);
  });

  it('finds a run by each of its refs, in any case', async () => {
    const { history } = await opened(engine);
    await history.begin(headOf(), [rowFor(1n, { ref: 'box_1, D-1' }), rowFor(2n, { row: 2 })]);
    for (const [ref, count] of [
      ...([
        ['box_1', 1],
        ['d-1', 1],
        ['BOX_1', 1],
      ] as const),
      ...([
        ['box%', 0],
        ['boxa1', 0],
        ['D', 0],
        ['\\', 0],
        ['box_1, D-1', 1],
      ] as const),
    ] as const) {
      expect(await collect(history.runs({ ref })), ref).toHaveLength(count);
    }
  });

  it('lets one of two processes begin a run of the same content', async () => {
    const { state, history } = await opened(engine);
    const other = historyOf(await state.open());
    const head = headOf({ contentHash: 'ab' });
    const first = await history.begin(head, rowsFor(1n), { run: undefined });
    await expect(other.begin(head, rowsFor(1n), { run: undefined })).rejects.toThrow('has begun since');
    expect(await other.runsOfFile(service, 'ab')).toMatchObject([{ run: first.run, state: 'running' }]);
    await other.begin(head, rowsFor(1n), { run: first.run });
    await other.begin(head, rowsFor(1n));
    expect(await collect(history.runs())).toHaveLength(3);
  });

  it('begins a run of new content once if the answer to its commit is lost', async () => {
    const { store, history } = await opened(engine);
    const { transact } = store;
    const twice: Store['transact'] = async (...args) => {
      await transact(...args);
      return transact(...args);
    };
    Object.assign(store, { transact: twice });
    const head = headOf({ contentHash: 'ab' });
    const { run } = await history.begin(head, rowsFor(1n), { run: undefined });
    expect(await collect(history.runs())).toMatchObject([{ run, changes: 1 }]);
  });

  it('knows no stock of a pet whose later write was removed', async () => {
    const { store, history } = await opened(engine);
    const runs: string[] = [];
    for (const quantity of [5, 6]) {
      const run = await history.begin(headOf(), rowsFor(1n));
      await send(store, run);
      await record(store, run, { result: 'applied', quantity });
      await history.end(run);
      runs.push(run.run);
    }
    expect(await history.lastKnown(service, [{ petId: 1n }])).toEqual(new Map([[1n, 6]]));
    await history.remove(runs.slice(1));
    expect(await history.lastKnown(service, [{ petId: 1n }])).toEqual(new Map());
  });

  it('records a single change with its first intent', async () => {
    const at = await opened(engine);
    const { history, store } = at;
    const run = await history.beginLater(headOf(), rowsFor(1n));
    expect(await collect(history.runs())).toEqual([]);
    await store.transact([lastIntent(service)], ([counters], moment) => {
      const begun = run.beginning?.(moment) ?? [];
      return {
        writes: [...begun, ...intend(run, run.rows, countersOf(counters).last, moment, 1000)],
        result: undefined,
      };
    });
    run.beginning = undefined;
    expect(await collect(history.runs())).toMatchObject([{ run: run.run, counts: { unknown: 1 } }]);
  });

  it('takes over a run only when no process writes it, and marks what was sent as unknown', async () => {
    const at = await opened(engine);
    const { state, history, store } = at;
    const run = await history.begin(headOf(), rowsFor(1n, 2n));
    // The stock has moved since the plan.
    const sent = { before: 7, after: 10 };
    Object.assign(run.rows[0] ?? {}, sent);
    await send(store, run, run.rows.slice(0, 1));
    const other = historyOf(await state.open());
    const by = { user: 'bob', host: 'till2', pid: 5 };
    await expect(other.resume(run.run, by)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('ann, pid 4711 on till1'),
    });
    await store.close();
    const resumed = await other.resume(run.run, by);
    const rows = [{ ...sent, result: 'unknown' }, { result: 'pending' }];
    expect(resumed).toMatchObject({ isResumed: true, ...by, rows });
    await expect(other.resume('20260115T120020Z-k3x9', by)).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('keeps outcomes that another process has recorded, and records again what a database has lost', async () => {
    const at = await opened(engine);
    const { state, history, store } = at;
    const run = await history.begin(headOf(), rowsFor(1n, 2n, 3n, 4n));
    await send(store, run);
    await run.lock.release();
    const otherStore = await state.open();
    const other = await historyOf(otherStore).resume(run.run, ann);
    await record(otherStore, other, { result: 'conflict', quantity: 4 }, other.rows.slice(0, 1));
    await send(otherStore, other, other.rows.slice(3));
    await other.lock.release();
    // The database releases it before it answers what is asked next.
    await otherStore.ask([]);
    for (const row of run.rows.slice(0, 2)) Object.assign(row, { result: 'applied', quantity: 8 });
    // This process knows that it has not sent its last two rows, but the other has sent one of them.
    for (const row of run.rows.slice(2)) Object.assign(row, { result: 'pending' });
    await history.retake(run);
    expect(run.rows.map(({ result }) => result)).toEqual(['conflict', 'applied', 'pending', 'unknown']);
    expect(await resultsOf(at, run.run)).toEqual(['conflict', 'applied', 'unknown', 'unknown']);
  });

  it('never records an outcome over a newer intent, or over another outcome', async () => {
    const at = await opened(engine);
    const { history, store } = at;
    const run = await history.begin(headOf(), rowsFor(1n, 2n));
    await send(store, run);
    const older = run.rows.map((row) => ({ ...row, result: 'applied' as const, quantity: 8 }));
    await record(store, run, { result: 'pending' });
    await send(store, run, run.rows.slice(0, 1));
    await record(store, run, { result: 'failed' }, run.rows.slice(1));
    await store.transact([], (_answers, moment) => ({ writes: settle(run, older, moment), result: undefined }));
    expect(await resultsOf(at, run.run)).toEqual(['unknown', 'failed']);
  });

  it('numbers outcomes in the order in which they become visible', async () => {
    const at = await opened(engine);
    const { state, history, store } = at;
    const [late, early] = [
      await history.begin(headOf(), rowsFor(1n)),
      await history.begin(headOf({ user: 'bob' }), rowsFor(2n)),
    ];
    await send(store, late);
    await send(store, early);
    await record(store, early, { result: 'applied', quantity: 8 });
    const first = await collect(history.settled());
    expect(first).toMatchObject([{ run: { user: 'bob' }, row: { petId: 2n } }]);
    const otherStore = await state.open();
    await record(otherStore, late, { result: 'differs', quantity: 9 });
    const after = first[0]?.row.outcome;
    expect(await collect(history.settled({ after }))).toMatchObject([{ row: { petId: 1n, quantity: 9 } }]);
    expect(await collect(history.settled({ petIds: [2n], user: 'bob', env: 'staging' }))).toHaveLength(1);
    expect(await collect(history.settled({ store: 'north' }))).toEqual([]);
  });

  it('knows what other runs have written, or may have, and the last write to each pet', async () => {
    const at = await opened(engine);
    const { history, store } = at;
    const one = await history.begin(headOf(), rowsFor(1n, 2n));
    const sentAt = Date.now();
    await send(store, one);
    expect(one.rows[1]?.inFlightUntil).toBeGreaterThanOrEqual(sentAt + 1000);
    await record(store, one, { result: 'applied', quantity: 8 }, one.rows.slice(0, 1));
    const two = await history.begin(headOf({ command: 'inventory set' }), rowsFor(1n));
    const elsewhere = async (since: number) =>
      (await store.ask(writtenElsewhere(two, [1n, 2n, 3n], since))).answers.flat().map(otherWriteOf);
    expect(await elsewhere(0)).toMatchObject([
      { petId: 1n, result: 'applied', quantity: 8, intent: 1 },
      { petId: 2n, result: 'unknown', inFlightUntil: one.rows[1]?.inFlightUntil },
    ]);
    expect(await elsewhere(1)).toHaveLength(1);
    await send(store, two);
    await record(store, two, { result: 'applied', quantity: 9 });
    const last = (await store.ask(lastWritten(service, [1n, 2n]))).answers.flat().map(lastWriteOf);
    expect(last).toMatchObject([{ petId: 1n, before: 5, quantity: 9 }]);
    expect([...(await history.lastKnown(service, [{ petId: 1n }, { petId: 2n }, { petId: 3n }]))]).toEqual([[1n, 9]]);
  });

  it('closes a run that is discarded', async () => {
    const at = await opened(engine);
    const { history, store } = at;
    const run = await history.begin(headOf(), rowsFor(1n, 2n));
    await send(store, run, run.rows.slice(0, 1));
    await expect(history.discard(run.run, ann)).rejects.toMatchObject({ kind: 'conflict' });
    await history.end(run);
    expect(await history.discard(run.run, ann)).toMatchObject({
      state: 'done',
      isDiscarded: true,
      counts: { failed: 1, unknown: 1 },
    });
  });

  it('removes runs, remembers up to where, and gives their space back', async () => {
    const at = await opened(engine);
    const { history, store } = at;
    const run = await history.begin(headOf(), rowsFor(...Array.from({ length: 3000 }, (_, index) => BigInt(index))));
    await send(store, run);
    await record(store, run, { result: 'applied', quantity: 8 });
    await history.end(run);
    await store.reclaim();
    const { bytes } = await store.describe();
    expect(await history.remove(await history.removable(await collect(history.runs()), new Set([run.run])))).toBe(1);
    expect(await history.sizes()).toEqual({ runs: 0, rows: 0 });
    const { answers } = await store.ask([lastIntent(service)]);
    expect(countersOf(answers[0])).toEqual({ last: 3000, removed: 3000 });
    if (engine === 'sqlite') expect((await store.describe()).bytes).toBeLessThan(bytes / 3);
    expect(await history.check()).toEqual([]);
  });

  it('does not remove a run that is being written', async () => {
    const { state, history } = await opened(engine);
    const run = await history.begin(headOf(), rowsFor(1n));
    expect(await historyOf(await state.open()).remove([run.run])).toBe(0);
    expect(await collect(history.runs({ state: 'running' }))).toHaveLength(1);
  });
});

const undoing = (run: string, row: number, undoes: string, undoneRow: number): UndoingRow => ({
  run,
  row,
  undoes,
  undoneRow,
});

test.each<[string, UndoingRow[], Record<string, [number, string][]>]>([
  ['an undo of one row', [undoing('b', 1, 'a', 3)], { a: [[3, 'b']] }],
  ['the undo of an undo', [undoing('b', 1, 'a', 3), undoing('c', 1, 'b', 1)], { b: [[1, 'c']] }],
  [
    'the undo of the undo of an undo',
    [undoing('b', 1, 'a', 3), undoing('c', 1, 'b', 1), undoing('d', 1, 'c', 1)],
    { a: [[3, 'b']], c: [[1, 'd']] },
  ],
  [
    'two undos of a run',
    [undoing('b', 1, 'a', 1), undoing('c', 1, 'a', 2)],
    {
      a: [
        [2, 'c'],
        [1, 'b'],
      ],
    },
  ],
])('finds the rows that are undone after %s', (_what, rows, expected) => {
  const found = Object.fromEntries([...undoneRows(rows)].map(([run, undone]) => [run, [...undone]]));
  expect(found).toEqual(expected);
});
