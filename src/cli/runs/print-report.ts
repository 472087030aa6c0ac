import { type BulkReport, type BulkRow, countRows, countWhere, firstRows, rowsWhere } from '../../inventory/change.ts';
import { grouped } from '../../inventory/grouped.ts';
import { unreadableStock } from '../../inventory/plan.ts';
import { bulkReportView } from '../../output/report-view.ts';
import { ClosedPipeError, FailureError, type PetstockError } from '../../shared/errors.ts';
import { isRefusal } from '../../writes/classify-failure.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** What stands on a screen beside the table: counts, how to take it back, the rate limit, an error and its hint, a prompt. */
const otherLines = 8;
const usualRows = 24;
/** On a terminal that is narrower than this, a row that failed takes a line for each of its fields. */
const narrow = 60;
const linesOfRecord = 7;

/**
 * Prints what became of each row. On a terminal the rows that went wrong come last, and of a long run they are all that is
 * shown, at most a screen of them, with a line that says where the rest is.
 */
export async function printReport(invocation: Invocation, report: BulkReport): Promise<void> {
  const shown = isTableForPerson(invocation) ? screenOf(invocation, report) : report;
  // What was written is shown whatever comes between, and at once; a dry run is read at leisure.
  const options = { inSpiteOfInterruption: !report.dryRun, sayWhenEmpty: false };
  if (shown !== undefined) await invocation.results.print(bulkReportView(shown), options);
  await noteRest(invocation, report, shown ?? { ...report, rows: [] });
}

/** As `printReport`. A reader that has gone away still gets the exit code. @param error what the run ends with */
export async function printReportBefore(
  error: PetstockError | undefined,
  invocation: Invocation,
  report: BulkReport,
): Promise<void> {
  await printReport(invocation, report).catch((cause) => {
    if (cause instanceof ClosedPipeError) throw error ?? cause;
    if (error) return;
    throw new FailureError(`The run went as planned, but its report could not be shown: ${cause.message}`, { cause });
  });
}

/** How a run that has written something is taken back. */
export async function noteUndo(
  { messages, globals, environment }: Invocation,
  { run, rows }: BulkReport,
): Promise<void> {
  const { applied, differs, unknown } = countRows(rows);
  if (run === null || applied + differs + unknown === 0) return;
  const store = globals.store === undefined ? '' : ` --store ${globals.store}`;
  const where = environment.source === '--env' ? `${store} --env ${environment.value}` : store;
  await messages.note(`Take it back: petstock undo ${run.slice(-4)}${where}`);
}

function isTableForPerson({ context, globals, config }: Invocation): boolean {
  const format = globals.json ? 'json' : (globals.output ?? config.settings.output ?? 'table');
  return context.stdout.isTerminal && format === 'table';
}

/** What a screen holds; undefined where only the counts are to be shown. A dry run has no history to look at: it shows all. */
function screenOf({ context }: Invocation, report: BulkReport): BulkReport | undefined {
  const changed = rowsWhere(report.rows, isChanged);
  const wrong = rowsWhere(changed, isWrong);
  const { rows = usualRows, columns = 80 } = context.stdout;
  const lines = Math.max(5, rows - otherLines);
  const room = columns < narrow && wrong.length > 0 ? Math.max(2, Math.floor(lines / linesOfRecord)) : lines;
  if (report.run === null || changed.length <= room) {
    return { ...report, rows: [...rowsWhere(changed, (row) => !isWrong(row)), ...wrong] };
  }
  return wrong.length === 0 ? undefined : { ...report, rows: firstRows(wrong, room) };
}

function isChanged({ result }: BulkRow): boolean {
  return result !== 'unchanged';
}

function isWrong({ result }: BulkRow): boolean {
  return result !== 'applied' && result !== 'unchanged' && result !== 'planned';
}

/** Why a row is never sent. */
const failedUnsent: ReadonlySet<string> = new Set(['pet_not_found', unreadableStock]);

/** These are about the key or the moment, not the row: it is pending. */
const notOfTheRow: ReadonlySet<number> = new Set([401, 429]);

/** In the history a row that was not written, and that the service has not refused, is pending: a resume sends it again. */
function isPending({ result, error }: BulkRow): boolean {
  const isJudged = isRefusal(error?.status) && !notOfTheRow.has(error?.status ?? 0);
  const isUnwritten = result === 'failed' && !isJudged && !failedUnsent.has(error?.code ?? '');
  return result === 'notAttempted' || isUnwritten;
}

async function noteRest({ messages }: Invocation, { run, rows }: BulkReport, shown: BulkReport): Promise<void> {
  const shownRows = countWhere(shown.rows, isChanged);
  const rest = countWhere(rows, isChanged) - shownRows;
  if (run === null || rest <= 0) return;
  const wrong = rowsWhere(rows, isWrong);
  const states = new Set<string>();
  for (const row of wrong) states.add(isPending(row) ? 'pending' : row.result);
  const only = shownRows > 0 && wrong.length > shownRows ? ` --state ${[...states].join(',')}` : '';
  const more = shownRows === 0 ? '' : ' more';
  await messages.note(`${grouped(rest)}${more} rows: petstock history show ${run.slice(-4)}${only}`);
}
