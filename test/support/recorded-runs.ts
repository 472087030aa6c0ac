import { join } from 'node:path';
import type { PlannedRow, RecordedResult, RunHead } from '../../src/inventory/run-records.ts';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { History } from '../../src/state/history.ts';
import { countersOf, intend, lastIntent, settle } from '../../src/state/intents.ts';
import type { Row } from '../../src/state/open-run.ts';
import { openState } from '../../src/state/open-state.ts';
import type { Store } from '../../src/state/state-store.ts';
import type { Shop } from './shop.ts';

/** A row of a run that a test records. Rows with a result were sent; rows that are `pending` were not. */
export interface TestRow {
  readonly petId: bigint;
  /** The line of the change file; in an undo, the undone row. Default: the rows are the lines after a header. */
  readonly line?: number;
  readonly before?: number | undefined;
  readonly after: number;
  readonly result: RecordedResult;
  readonly quantity?: number;
  readonly error?: Row['error'];
  readonly reason?: string;
  readonly ref?: string | undefined;
}

/** The state of a shop, as another process opens it. */
interface OpenedState {
  readonly state: Store;
  readonly history: History;
}

/** Opens the state of a shop as another process would, and closes it after `use`. */
export async function useState<T>(shop: Shop, use: (opened: OpenedState) => Promise<T>): Promise<T> {
  const state = await openState({
    folder: shop.folders.state,
    url: undefined,
    clock: shop.clock,
  });
  try {
    return await use({ state, history: new History({ store: state, random: Math.random, now: shop.clock.now }) });
  } finally {
    await state.close();
  }
}

/**
 * Records a run in the history of a shop, one second after the last run.
 * @returns its id
 */
export async function recordRun(shop: Shop, rows: readonly TestRow[], head: Partial<RunHead> = {}): Promise<string> {
  shop.clock.advance(1000);
  return await useState(shop, async ({ state, history }) => {
    const run = await history.begin({ ...headOf(shop), ...head }, rows.map(plannedRow));
    const sent = run.rows.filter((_row, index) => rows[index]?.result !== 'pending');
    await state.transact([lastIntent(run.service)], ([counters], moment) => {
      return { writes: intend(run, sent, countersOf(counters).last, moment, 1000), result: undefined };
    });
    for (const row of sent) {
      const { result, quantity, error } = rows[row.row - 1] as TestRow;
      const written = result === 'applied' ? row.after : undefined;
      const inFlightUntil = result === 'unknown' ? row.inFlightUntil : undefined;
      Object.assign(row, { result, quantity: quantity ?? written, error, inFlightUntil });
    }
    await state.transact([], (_answers, moment) => ({ writes: settle(run, sent, moment), result: undefined }));
    await history.end(run);
    return run.run;
  });
}

/** Returns the head of a run that anna started with a file. */
export function headOf(shop: Shop): RunHead {
  return {
    command: 'inventory apply',
    env: 'staging',
    store: undefined,
    baseUrl: shop.service.url,
    scope: 'scope',
    service: shop.service.url,
    ...{ user: 'anna', host: 'till-1', pid: 7 },
    file: 'stock.csv',
    unchanged: 0,
  };
}

export function plannedRow({ petId, line, before, after, reason, ref }: TestRow, index: number): PlannedRow {
  return { row: index + 1, line: line ?? index + 2, petId, before, after, reason, ref };
}

/**
 * Runs statements on the state database in a folder, in order.
 * @returns the rows of the last statement
 */
export async function stateSql(folder: string, ...statements: readonly string[]) {
  const database = new (sqlite().DatabaseSync)(join(folder, 'state.db'));
  try {
    return statements.map((sql) => database.prepare(sql).all()).at(-1) ?? [];
  } finally {
    database.close();
  }
}
