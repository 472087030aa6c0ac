import type { BulkRow } from '../inventory/change.ts';
import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { isOpen, type OpenRun, type Row } from '../state/open-run.ts';
import type { RunContext, RunPlan } from './carry-out.ts';
import { writesAfter } from './plan-undo.ts';
import { type Step, stepOf } from './rows.ts';
import { readStock } from './stock.ts';

/**
 * Plans the rest of a run: reads the stock, and shows what the rules would decide now about the rows without an
 * outcome. They decide again in the turn.
 * @param open undefined in a dry run, which does not take the run over
 */
export async function planResume(context: RunContext, run: RunRecord, open: OpenRun | undefined): Promise<RunPlan> {
  const rows = open?.rows ?? (await recordedRows(context, run.run));
  const openRows = rows.filter(isOpen);
  const stock = await readStock(context, new Set(openRows.map(({ petId }) => petId)), { run: run.run });
  const others = await writesAfter(
    context,
    run,
    openRows.map((row) => ({ ...row, intent: sinceOf(row, run) })),
  );
  // Any number of sums may be 0 here, because the guards count them and the preview shows them.
  const zerosLeft = Number.POSITIVE_INFINITY;
  const planned = rows.map((row) => {
    if (!isOpen(row)) return bulkRow(row, row.result as BulkRow['result']);
    const step = stepOf(row, {
      ...{ others: others({ ...row, intent: sinceOf(row, run) }), stock: stock.quantities, isResumed: true },
      ...{ began: run.began, since: stock.since, sends: 0, mayResend: true, zerosLeft, isSecondRead: true },
    });
    return rowOf(row, step);
  });
  const { unchanged, skipped = 0, notEdited = 0 } = run;
  const resumed = { run: run.run, open, uncounted: { unchanged, skipped, notEdited } };
  return { subject: { command: run.command }, rows: planned, stock, resumed };
}

/** Returns the intent after which writes of other runs matter to a row. */
function sinceOf({ result, basis, intent }: Row, { began }: RunRecord): number {
  return result === 'pending' ? (basis ?? began) : (intent ?? 0);
}

async function recordedRows({ history }: RunContext, run: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of history.rows(run)) rows.push({ ...(row as RecordedRow) });
  return rows;
}

function rowOf(row: Row, step: Step): BulkRow {
  if (step.kind === 'send') return bulkRow({ ...row, ...step, error: undefined }, 'planned');
  if (step.kind === 'settle') return bulkRow({ ...row, error: step.error }, step.result);
  return bulkRow(row, 'unknown');
}

/** Creates a row. There is only one literal, so that all rows share their shape in memory. */
function bulkRow(
  { line, petId, before, after, delta, quantity, error, reason, ref }: Row,
  result: BulkRow['result'],
): BulkRow {
  const written = result === 'differs' ? quantity : undefined;
  return { line, petId, before, after, delta, expected: undefined, result, quantity: written, error, reason, ref };
}
