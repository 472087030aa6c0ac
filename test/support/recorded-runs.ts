import type { PlannedRow, RunHead } from '../../src/inventory/run-records.ts';
import type { Outcome } from '../../src/state/intents-and-outcomes.ts';
import { openState } from '../../src/state/open-state.ts';
import type { State } from '../../src/state/state.ts';
import type { Shop } from './shop.ts';

/** A row of a run that a test records. Rows with a result were sent; rows that are `pending` were not. */
export interface TestRow {
  readonly petId: bigint;
  /** The line of the change file; in an undo, the undone row. Default: the rows are the lines after a header. */
  readonly line?: number;
  readonly before?: number | undefined;
  readonly after: number;
  readonly result: Outcome['result'] | 'pending';
  readonly quantity?: number;
  readonly error?: Outcome['error'];
  readonly reason?: string;
  readonly ref?: string | undefined;
}

/** Opens the state of a shop as the process `pid` would, and closes it after `use`. */
export async function useState<T>(shop: Shop, use: (state: State) => Promise<T>, pid = 7): Promise<T> {
  const self = { host: 'till-1', namespace: 'pid:[1]', boot: shop.clock.boot(), pid, startedAt: `${pid}` };
  const state = await openState({
    folder: shop.folders.state,
    need: 'history',
    clock: shop.clock,
    command: 'inventory apply',
    processes: { self, isGone: () => false, isStopped: () => false },
    random: Math.random,
    warn: (line) => {
      throw new Error(`the test did not expect a warning: ${line}`);
    },
  });
  try {
    return await use(state);
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
  return await useState(shop, async ({ history }) => {
    const log = await history.begin({ ...headOf(shop), ...head }, rows.map(plannedRow));
    const sent = rows.flatMap((row, index) => (row.result === 'pending' ? [] : [outcomeOf(row, index)]));
    const expires = shop.clock.monotonic() + 1000;
    await log.intend(
      sent.map(({ row, petId }) => ({ row, petId, inFlightUntil: expires })),
      undefined,
    );
    await log.settle(sent);
    await log.end();
    return log.run;
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
    serviceName: shop.service.url,
    user: 'anna',
    file: 'stock.csv',
    unchanged: 0,
  };
}

export function plannedRow({ petId, line, before, after, reason, ref }: TestRow, index: number): PlannedRow {
  return { row: index + 1, line: line ?? index + 2, petId, before, after, reason, ref };
}

function outcomeOf({ petId, result, quantity, error }: TestRow, index: number): Outcome {
  return { row: index + 1, petId, result: result as Outcome['result'], quantity, error };
}
