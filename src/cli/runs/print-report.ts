import type { PetNames } from '../../inventory/bar-codes.ts';
import { type BulkReport, type BulkRow, countRows, isIdle, isWrong } from '../../inventory/change.ts';
import { counted, listed } from '../../inventory/items.ts';
import { unreadableStock } from '../../inventory/plan.ts';
import { bulkReportView } from '../../output/report-view.ts';
import { answerKindOf } from '../../rate-limit/waits.ts';
import { ClosedPipeError, FailureError, fileErrorReason, type PetstockError } from '../../shared/errors.ts';
import { petstock } from '../../shared/hint.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { noteUndoOf } from './run-access.ts';

/** Lines on a screen besides the table: counts, undo hint, rate limit, an error with its hint, the prompt. */
const otherLines = 8;
const usualRows = 24;
/** On a terminal with fewer columns, a failed row takes one line per field. */
const narrow = 60;
const linesOfRecord = 7;

interface ReportOptions {
  readonly changedOnly: boolean;
  readonly names: PetNames | undefined;
}

/**
 * Prints the outcome of each row. On a terminal, rows with a problem come last. If the rows of a run don't fit on the
 * screen, only those with a problem are shown, as many as fit, and a line says how to see the rest.
 */
export async function printReport(invocation: Invocation, report: BulkReport, viewed: ReportOptions): Promise<void> {
  const shown = isTableForPerson(invocation) ? screenOf(invocation, report) : report;
  // The report of a run is printed completely, even after an interruption; the report of a dry run may be cut off.
  const options = { ignoreInterrupt: !report.dryRun };
  if (shown !== undefined)
    await invocation.results.print({ ...bulkReportView(shown, viewed), noteWhenEmpty: false }, options);
  await noteRest(invocation, report, shown ?? { ...report, rows: [] });
}

/**
 * Like `printReport`, but an error of the run takes precedence over a failure to print.
 * @param error the error that the run ends with
 */
export async function printReportBefore(
  error: PetstockError | undefined,
  invocation: Invocation,
  report: BulkReport,
  options: ReportOptions,
): Promise<void> {
  await printReport(invocation, report, options).catch((cause) => {
    if (cause instanceof ClosedPipeError) throw error ?? cause;
    if (error) return;
    const what = report.run === null ? 'Nothing was written, and the' : 'The run was carried out, but its';
    throw unshownError(`${what} report could not be shown`, report, cause);
  });
}

/** Returns the error for a report that could not be printed. The history still has its run, if one was begun. */
export function unshownError(what: string, { run }: BulkReport, cause: unknown): FailureError {
  const begun = run === null ? {} : { run, hint: petstock`history show ${run}` };
  return new FailureError(`${what}: ${fileErrorReason(cause)}`, { cause, ...begun });
}

/**
 * Prints how to undo a run if it has written a row whose previous stock is known. A resumed `set` may not have read the
 * stock. If the outcome of every row is unknown, the error says what to do.
 */
export async function noteUndo(invocation: Invocation, { run, rows }: BulkReport): Promise<void> {
  const { applied, differs } = countRows(rows.filter(({ before }) => before !== undefined));
  if (run !== null && applied + differs > 0) await noteUndoOf(invocation, run);
}

export function isTableForPerson({ context, results }: Invocation): boolean {
  return context.stdout.isTerminal && results.format === 'table';
}

/**
 * Returns a report with the rows that fit on a screen; undefined if only the counts are to be shown. A dry run is shown
 * completely, because it is not in the history.
 */
function screenOf({ context }: Invocation, report: BulkReport): BulkReport | undefined {
  const changed = report.rows.filter((row) => !isIdle(row));
  const wrong = changed.filter(isWrong);
  const { rows = usualRows, columns = 80 } = context.stdout;
  const lines = Math.max(5, rows - otherLines);
  const room = columns < narrow && wrong.length > 0 ? Math.max(2, Math.floor(lines / linesOfRecord)) : lines;
  if (report.run === null || changed.length <= room) {
    return { ...report, rows: [...changed.filter((row) => !isWrong(row)), ...wrong] };
  }
  // Leaves out rows that were not attempted, because nothing happened to them.
  const attempted = wrong.filter(({ result }) => result !== 'notAttempted');
  return attempted.length === 0 ? undefined : { ...report, rows: attempted.slice(0, room) };
}

/**
 * Reports whether the history keeps a row as pending, so that a resume sends it again: the row was not written, was not
 * rejected by the service, and has no unreadable stock.
 */
export function isPending({ result, error }: BulkRow): boolean {
  const isJudged = error?.status !== undefined && answerKindOf(error.status) === 'rejected';
  return result === 'notAttempted' || (result === 'failed' && !isJudged && error?.code !== unreadableStock);
}

async function noteRest({ messages }: Invocation, { run, rows }: BulkReport, shown: BulkReport): Promise<void> {
  const count = (all: readonly BulkRow[]) => all.filter((row) => !isIdle(row)).length;
  const shownRows = count(shown.rows);
  const wrong = rows.filter(isWrong);
  const isOfWrong = wrong.length > shownRows;
  const rest = (isOfWrong ? wrong.length : count(rows)) - shownRows;
  if (run === null || rest <= 0) return;
  const states = new Set(wrong.map((row) => (isPending(row) ? 'pending' : row.result)));
  const only = isOfWrong ? ` --state ${[...states].join(',')}` : '';
  const noun = shownRows === 0 ? 'row' : 'more row';
  await messages.note(`To see ${counted(rest, noun)}: petstock history show ${run.slice(-4)}${only}`);
}

/**
 * Saves the wrong rows to the file of `--failed-out`. If that fails, prints a warning with the rows.
 * @returns the error that the run ends with; a FailureError if saving fails and the run has no error
 */
export async function errorAfterKeeping(
  { messages }: Pick<Invocation, 'messages'>,
  error: PetstockError | undefined,
  report: BulkReport,
  keep: ((rows: readonly BulkRow[], isLost: boolean) => Promise<void>) | undefined,
): Promise<PetstockError | undefined> {
  const rows = report.rows.filter(isWrong);
  try {
    await keep?.(rows, report.run === null);
    return error;
  } catch (reason) {
    const why = (reason as Error).message;
    if (error === undefined) {
      const message = `All changes were written, but the --failed-out file could not be saved: ${why}`;
      return new FailureError(message, { cause: reason });
    }
    await messages.warn(`These rows could not be saved to the --failed-out file: ${why}`);
    await messages.show(() => listed(rows, lineOf).map((line) => `  ${line}`), { always: true });
    return error;
  }
}

/** Returns a text like `line 3: pet 5, 1 → 9 (failed)`. */
function lineOf({ line, petId, before, after, result }: BulkRow): string {
  const change = before === undefined ? `to ${after}` : `${before} → ${after}`;
  return `line ${line}: pet ${petId}${after === undefined ? '' : `, ${change}`} (${result})`;
}
