import type { BulkRow } from '../inventory/change.ts';
import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import type { Outcome } from '../state/intents-and-outcomes.ts';
import type { RunLog } from '../state/run-log.ts';
import { conflictError } from '../writes/classify-failure.ts';
import type { StockSnapshot } from '../writes/row-write.ts';
import { rebase, type UnansweredRow, verdictOn } from '../writes/verdict.ts';
import type { ResumedRun, RunPlan } from './execute.ts';
import type { RunContext } from './run-context.ts';
import { StockReader } from './stock-reader.ts';

/**
 * Plans the rest of a run. Rows with a final outcome stay as they are. The stock of the others is read, to decide which
 * of them are to be sent.
 * @param log undefined in a dry run, because that does not take the run over
 */
export async function planResume(context: RunContext, run: RunRecord, log: RunLog | undefined): Promise<RunPlan> {
  const stock = await readStock(context, run.run);
  const { history, petWrites } = context.state;
  const rows: BulkRow[] = [];
  const numbers: number[] = [];
  const outcomes: Outcome[] = [];
  for await (const recorded of history.pages(run.run)) {
    const open = recorded.filter(isUnanswered);
    const answers = await petWrites.after(run, open);
    const later = new Map(open.map((row, index) => [row, answers[index]]));
    for (const row of recorded) {
      const resumed = resumeRow(row, { stock: stock.quantities, laterWrites: later.get(row) ?? [] });
      // An applied row is recorded even if the plan is not confirmed.
      if (resumed.outcome?.result === 'applied') log?.settle([resumed.outcome]);
      else if (resumed.outcome !== undefined) outcomes.push(resumed.outcome);
      rows.push(resumed.row);
      numbers.push(row.row);
    }
  }
  const { unchanged, skipped, notEdited } = run;
  const resumed: ResumedRun = {
    run: run.run,
    log,
    numbers,
    outcomes,
    uncounted: { unchanged, skipped: skipped ?? 0, notEdited: notEdited ?? 0 },
  };
  const { readVersion, readAt } = stock;
  return { subject: { command: run.command }, rows, stock: { readVersion, readAt }, resumed };
}

/**
 * Reads the stock of the rows without a final outcome. If a request of one of them may still be in flight and its
 * change is not visible yet, waits and reads again.
 */
async function readStock(context: RunContext, run: string): Promise<StockSnapshot> {
  const { clock, interrupted, onDelay } = context;
  const { history } = context.state;
  const petIds = new Set<bigint>();
  for await (const row of history.rows(run, ['pending', 'unknown'])) petIds.add(row.petId);
  const reader = new StockReader(context, undefined, true);
  for (;;) {
    const stock = await reader.readAfterInFlight(petIds, run);
    let wait = 0;
    for await (const { petId, after, inFlightUntil = 0 } of history.rows(run, ['unknown'])) {
      if (stock.quantities.get(petId) !== after) wait = Math.max(wait, inFlightUntil - stock.readAt);
    }
    if (wait <= 0) return stock;
    const seconds = Math.ceil(wait / 1000);
    await onDelay(`A request of this run may still reach the service; checking again in ${seconds} s`);
    await clock.sleep(Math.ceil(wait), interrupted);
  }
}

export interface ResumedRow {
  /** The row with its outcome; `planned` if it is still to be written. */
  readonly row: BulkRow;
  /** The outcome of a row that the stock or the history has settled, to be recorded in the log. */
  readonly outcome: Outcome | undefined;
}

/** Reports whether a row has no final outcome yet, so that the stock of its pet must be read. */
function isUnanswered({ result }: RecordedRow): boolean {
  return result === 'pending' || result === 'unknown';
}

/**
 * Plans one row of a resumed run. A row with a final outcome is never written again; the verdict decides about the
 * others.
 */
export function resumeRow(
  recorded: RecordedRow,
  { stock, laterWrites }: Pick<UnansweredRow, 'stock' | 'laterWrites'>,
): ResumedRow {
  const { petId, result, after } = recorded;
  if (!isUnanswered(recorded)) return { row: bulkRow(recorded, result as BulkRow['result']), outcome: undefined };
  const wasSent = result === 'unknown';
  const verdict = verdictOn({ write: recorded, wasSent, isResumed: true, stock, laterWrites });
  const found = stock.get(petId);
  if (verdict.kind === 'send') return openRow(recorded, found);
  const error = verdict.kind === 'conflict' ? conflictError(verdict.message, wasSent) : undefined;
  // If the row was applied, the stock may have been changed since.
  const quantity = verdict.kind === 'applied' ? after : found;
  return settledRow(recorded, { result: verdict.kind, quantity, error });
}

function settledRow(
  recorded: RecordedRow,
  settled: Omit<Outcome, 'row' | 'petId'> & Pick<BulkRow, 'result'>,
): ResumedRow {
  const { row, petId } = recorded;
  const { result, error } = settled;
  return { row: bulkRow({ ...recorded, error }, result), outcome: { row, petId, ...settled } };
}

/**
 * Plans a row again, without its last error. A delta is added to the current stock; if that is not possible, the row is
 * a conflict.
 */
function openRow(recorded: RecordedRow, found: number | undefined): ResumedRow {
  const isOwed = recorded.delta !== undefined && found !== undefined;
  // Any number of sums may be 0 here, because the guards count them and the preview shows them.
  const rebased = isOwed ? rebase(recorded, found, { left: Number.POSITIVE_INFINITY }) : recorded;
  if (typeof rebased === 'string') {
    const error = conflictError(rebased, recorded.result === 'unknown');
    return settledRow(recorded, { result: 'conflict', quantity: found, error });
  }
  const { before, after } = rebased;
  return { row: bulkRow({ ...recorded, before, after, error: undefined }, 'planned'), outcome: undefined };
}

/** Creates a row. There is only one literal, so that all rows share their shape in memory. */
function bulkRow(recorded: RecordedRow, result: BulkRow['result']): BulkRow {
  const { line, petId, before, after, delta, quantity, error, reason, ref } = recorded;
  const written = result === 'differs' ? quantity : undefined;
  return { line, petId, before, after, delta, expected: undefined, result, quantity: written, error, reason, ref };
}
