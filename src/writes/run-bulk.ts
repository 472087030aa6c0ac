import type { Invocation } from '../cli/invocation/invocation.ts';
import type { Journal } from '../history/journal.ts';
import type { JournalChange } from '../history/records.ts';
import type { BulkReport, BulkRow } from '../inventory/change.ts';
import { grouped } from '../inventory/grouped.ts';
import { type Guards, guardFaults } from '../inventory/plan.ts';
import { previewedRows } from '../output/preview.ts';
import { bulkReportView, reportSummary } from '../output/report-view.ts';
import { ChangesFound, ClosedPipeError, FailureError, type PetstockError, UsageError } from '../shared/errors.ts';
import { journalChange, numbersOf, rowAfter, rowWrite } from './numbered-rows.ts';
import { createEstimator, showPreview } from './preview.ts';
import type { Progression } from './row-write.ts';
import { endingOf } from './run-error.ts';
import type { BulkSession, Stock } from './session.ts';
import { writeRows } from './write-rows.ts';

/** A plan, and where its run is written down. */
export interface BulkJob {
  /** `planned` rows are to be written; of the others it is known already what becomes of them. */
  readonly rows: readonly BulkRow[];
  /** Taken before the stock of the rows was read. */
  readonly mark: Stock['mark'];
  /** What happens to the rows, in a question: `Write 3 changes to staging?`, `Take back …`. */
  readonly verb: 'Write' | 'Take back';
  /** Opens the journal; what it is given is on disk before it resolves. */
  begin(changes: readonly JournalChange[], unchanged: number): Promise<Journal>;
  /** Of a run that goes on: the number in the journal of each row, in the order of `rows`. */
  readonly numbers?: readonly number[];
  /** Of a run that goes on. */
  readonly run?: string;
  /** A command that shows the plan alone. */
  readonly look: string;
}

export interface BulkOptions {
  readonly dryRun: boolean;
  /** A dry run that finds changes ends with exit code 3. */
  readonly exitCode: boolean;
  readonly failFast: boolean;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly guards: Guards;
  readonly stdinIsTaken: boolean;
  /** Is given every row that was not written, once it is known. */
  readonly keepFailed?: ((rows: readonly BulkRow[]) => Promise<void>) | undefined;
}

/**
 * Shows a plan, asks, writes it, and reports.
 * @throws UsageError where a guard or the person refuses it, and whatever `endingOf` says of a run that wrote not all of it
 */
export async function runBulk(
  invocation: Invocation,
  session: BulkSession,
  job: BulkJob,
  options: BulkOptions,
): Promise<void> {
  const env = invocation.environment.value;
  const planned = job.rows.filter(({ result }) => result === 'planned');
  await showPreview(invocation, job.rows, createEstimator(invocation, session.connection));
  guard(job.rows, options.guards);
  const report = { run: job.run ?? null, env, dryRun: options.dryRun, rows: job.rows };
  if (options.dryRun) {
    if (!isShown(invocation, report)) await print(invocation, report);
    if (options.exitCode && planned.length > 0) throw new ChangesFound('There are changes');
  }
  if (planned.length === 0) return reportWithoutWriting(invocation, report, options);
  if (options.dryRun) return;
  const what = `${grouped(planned.length)} ${planned.length === 1 ? 'change' : 'changes'}`;
  const { verb } = job;
  await invocation.confirmBulk({
    question: `${verb} ${what} ${verb === 'Write' ? 'to' : 'in'} ${env}?`,
    typed: env === 'production' ? env : undefined,
    stdinIsTaken: options.stdinIsTaken,
    look: job.look,
  });
  await writeAndReport(invocation, session, job, options);
}

/** There is nothing to write, or nothing that may be written. */
async function reportWithoutWriting(
  invocation: Invocation,
  report: BulkReport,
  { dryRun, keepFailed }: BulkOptions,
): Promise<void> {
  const ending = endingOf(report, undefined);
  if (!dryRun) {
    await invocation.note('Nothing is left to write.');
    await keepFailed?.(notWritten(report.rows));
    await printBefore(ending, invocation, report);
  }
  if (ending) throw ending;
}

/** Whoever reads no further still gets the exit code. */
async function printBefore(
  ending: PetstockError | undefined,
  invocation: Invocation,
  report: BulkReport,
): Promise<void> {
  await print(invocation, report).catch((cause) => {
    if (cause instanceof ClosedPipeError) throw ending ?? cause;
    if (ending) return;
    throw new FailureError(`All is as it should be, but that could not be shown: ${cause.message}`, { cause });
  });
}

function notWritten(rows: readonly BulkRow[]): readonly BulkRow[] {
  return rows.filter(({ result }) => result !== 'applied' && result !== 'unchanged');
}

function guard(rows: readonly BulkRow[], guards: Guards): void {
  const faults = guardFaults({ rows }, guards);
  if (faults.length === 0) return;
  throw new UsageError(`The plan is refused, and nothing was written: ${faults.join('; ')}`);
}

async function writeAndReport(
  invocation: Invocation,
  session: BulkSession,
  job: BulkJob,
  options: BulkOptions,
): Promise<void> {
  const { rows } = job;
  const numbers = numbersOf(job);
  const journal = await beginJournal(job, numbers);
  const progression = await write(invocation, session, job, options, { journal, numbers });
  const reported = rows.map((row, index) => rowAfter(row, numbers[index], progression));
  const report = { run: journal.run, env: invocation.environment.value, dryRun: false, rows: reported };
  const ending = endingOf(report, progression);
  await invocation.note(reportSummary(report));
  // Where the file can't be written, that is said once the report is.
  const unkept = await options.keepFailed?.(notWritten(reported)).catch((error: unknown) => ({ error }));
  await printBefore(ending, invocation, report);
  if (unkept) throw unkept.error;
  if (ending) throw ending;
}

async function write(
  invocation: Invocation,
  session: BulkSession,
  job: BulkJob,
  options: BulkOptions,
  { journal, numbers }: { readonly journal: Journal; readonly numbers: readonly (number | undefined)[] },
): Promise<Progression> {
  const { clock, random, interrupted } = invocation.context;
  const writes = job.rows.flatMap((row, index) => rowWrite(row, numbers[index]) ?? []);
  const estimator = createEstimator(invocation, session.connection);
  const progress = await invocation.startProgress(writes.length, (requests) => estimator(requests).seconds);
  let [done, failed] = [0, 0];
  const onInterrupt = () => void invocation.note(stopping(journal.run, invocation.environment.value));
  interrupted.addEventListener('abort', onInterrupt, { once: true });
  const progression = await writeRows(writes, {
    client: session.connection.client,
    claims: session.claims,
    journal,
    mark: job.mark,
    readStock: async (petIds) => (await session.readStock(petIds)).quantities,
    clock,
    random,
    interrupted,
    concurrency: options.concurrency,
    failFast: options.failFast,
    onSettled: ({ result }) => {
      done += 1;
      if (result !== 'applied') failed += 1;
      progress.update({ done, failed });
    },
  });
  interrupted.removeEventListener('abort', onInterrupt);
  await progress.stop();
  await journal.close().catch((error) => {
    progression.stoppedBy ??= error;
  });
  return progression;
}

/** Of a new run the conflicts are written down too, so that the history shows all that was asked for. */
async function beginJournal(
  { rows, numbers: known, begin }: BulkJob,
  numbers: readonly (number | undefined)[],
): Promise<Journal> {
  const changes = rows.flatMap((row, index) => journalChange(row, numbers[index]) ?? []);
  const journal = await begin(changes, rows.filter(({ result }) => result === 'unchanged').length);
  if (known !== undefined) return journal;
  for (const [index, { result, before, error }] of rows.entries()) {
    const row = numbers[index];
    if (row === undefined || (result !== 'conflict' && result !== 'failed')) continue;
    // The intents that follow are on disk only after these are.
    journal.outcome({ row, result, quantity: before, error }).catch(() => {});
  }
  return journal;
}

/** Said at once, since a second Ctrl-C ends the process without another word. */
function stopping(run: string, env: string): string {
  const resume = `petstock inventory apply --resume ${run} --env ${env}`;
  return `Stopping: what is in flight is let finish. To go on later: ${resume}`;
}

/** On a terminal the preview is all that a person wants of a short dry run. */
function isShown({ context, globals }: Invocation, { dryRun, rows }: BulkReport): boolean {
  const isForPerson = context.stdout.isTerminal && context.stderr.isTerminal && !globals.quiet;
  const isTable = globals.output === undefined && !globals.json;
  return (
    dryRun && isForPerson && isTable && rows.filter(({ result }) => result !== 'unchanged').length <= previewedRows
  );
}

async function print(invocation: Invocation, report: BulkReport): Promise<void> {
  await invocation.print(bulkReportView(report), { inSpiteOfInterruption: true });
}
