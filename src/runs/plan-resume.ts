import type { BulkRow } from '../inventory/change.ts';
import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import type { Outcome } from '../state/history.ts';
import type { RunLog } from '../state/stored-run-log.ts';
import { conflictError } from '../writes/classify-failure.ts';
import type { FinalOutcome, StockSnapshot } from '../writes/row-write.ts';
import { rebase, type UnansweredRow, verdictOn } from '../writes/verdict.ts';
import type { ResumedRun, RunPlan } from './execute.ts';
import type { RunContext } from './run-context.ts';
import { StockReader } from './stock-reader.ts';

/**
 * Plans what is left of a run: rows with an answer stay, the stock of the others is read before they are sent.
 * @param log undefined in a dry run, which takes nothing over
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
      // That it was written is so whatever becomes of the plan.
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

/** Reads the stock of rows without an answer, once no request of them can be on its way any more if that matters. */
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

/** A row of a run that goes on. */
export interface ResumedRow {
  /** Rows that are still to be written are `planned`. */
  readonly row: BulkRow;
  /** Outcomes of rows without an answer, by the stock or the history: for the log of the run. */
  readonly outcome: Outcome | undefined;
}

/** Reports whether a row has no answer yet, so that the stock of its pet has to be read. */
export function isUnanswered({ result }: RecordedRow): boolean {
  return result === 'pending' || result === 'unknown';
}

/** Returns what is left of a row. One that has its answer is never written again. Of the others the verdict decides. */
export function resumeRow(
  recorded: RecordedRow,
  { stock, laterWrites }: Pick<UnansweredRow, 'stock' | 'laterWrites'>,
): ResumedRow {
  const { petId, result, after } = recorded;
  if (!isUnanswered(recorded)) return { row: bulkRow(recorded, result as BulkRow['result']), outcome: undefined };
  const wasSent = result === 'unknown';
  const verdict = verdictOn({ write: recorded, wasSent, isResumed: true, stock, laterWrites });
  const found = stock.get(petId);
  if (verdict.kind === 'open') return openRow(recorded, found);
  const error = verdict.kind === 'conflict' ? conflictError(verdict.message, wasSent) : undefined;
  // Somebody may have changed the stock since.
  const quantity = verdict.kind === 'applied' ? after : found;
  return settledRow(recorded, { result: verdict.kind, quantity, error });
}

function settledRow(recorded: RecordedRow, settlement: FinalOutcome & Pick<BulkRow, 'result'>): ResumedRow {
  const { row, petId } = recorded;
  const { result, error } = settlement;
  return { row: bulkRow({ ...recorded, error }, result), outcome: { row, petId, ...settlement } };
}

/** The error of its last try is over. An increment is added to the stock as it is now. */
function openRow(recorded: RecordedRow, found: number | undefined): ResumedRow {
  const isOwed = recorded.delta !== undefined && found !== undefined;
  // The preview shows it before it is agreed to, and the guards count it.
  const rebased = isOwed ? rebase(recorded, found, { left: Number.POSITIVE_INFINITY }) : recorded;
  if (typeof rebased === 'string') {
    const error = conflictError(rebased, recorded.result === 'unknown');
    return settledRow(recorded, { result: 'conflict', quantity: found, error });
  }
  const { before, after } = rebased;
  return { row: bulkRow({ ...recorded, before, after, error: undefined }, 'planned'), outcome: undefined };
}

/** One literal for all rows, so that they share their shape in memory. */
function bulkRow(recorded: RecordedRow, result: BulkRow['result']): BulkRow {
  const { line, petId, before, after, delta, quantity, error, reason, ref } = recorded;
  const written = result === 'differs' ? quantity : undefined;
  return { line, petId, before, after, delta, expected: undefined, result, quantity: written, error, reason, ref };
}
