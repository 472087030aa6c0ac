import type { BulkReport, BulkRows } from '../../inventory/change.ts';
import { countWhere, rowsWhere } from '../../inventory/change.ts';
import { grouped } from '../../inventory/grouped.ts';
import { PetIdSet } from '../../inventory/pet-id-set.ts';
import { type Guards, guardFaults } from '../../inventory/plan.ts';
import type { RowColumns } from '../../inventory/row-columns.ts';
import { previewedRows } from '../../output/preview.ts';
import { reportSummary } from '../../output/report-view.ts';
import { ChangesFound, type PetstockError, UsageError } from '../../shared/errors.ts';
import { type Where, whereName, whereOptions } from '../../shared/where.ts';
import type { RunLog } from '../../state/history.ts';
import type { Mark } from '../../state/pets.ts';
import { numberRows } from '../../writes/planned-rows.ts';
import type { Progression } from '../../writes/row-write.ts';
import { rowAfter, rowWrites } from '../../writes/rows-after.ts';
import { runErrorOf } from '../../writes/run-error.ts';
import { stockMovedMessage } from '../../writes/stock-moved.ts';
import { writeRows } from '../../writes/write-rows.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { createEstimator, type Estimator, showPreview } from './preview.ts';
import { noteUndo, printReport, printReportBefore } from './print-report.ts';
import type { Session } from './session.ts';

/** A plan, and the run that it becomes. */
export interface PlanJob {
  /**
   * `planned` rows are to be written; of the others it is known already what becomes of them. They are given away: what became
   * of a row is noted in its place.
   */
  readonly rows: RowColumns;
  /** Taken before the stock of the rows was read. */
  readonly mark: Mark;
  /** When that was, by the monotonic clock. */
  readonly readAt: number;
  /** What happens to the rows, in a question: `Write 3 changes to staging?`, `Take back …`. */
  readonly verb: 'Write' | 'Take back';
  /** Opens the log of the run, with its rows on disk. */
  begin(rows: BulkRows, numbers: readonly (number | undefined)[]): Promise<RunLog>;
  /** Of a run that goes on. */
  readonly resumed?: ResumedRun | undefined;
  /** A command that shows the plan alone. */
  readonly look: string;
}

export interface ResumedRun {
  readonly run: string;
  /** Of each row in the run. */
  readonly numbers: readonly number[];
  /** Rows that needed no change when it was planned, and are not among those of the plan. */
  readonly unchanged: number;
}

export interface PlanOptions {
  readonly dryRun: boolean;
  /** A dry run that finds changes ends with exit code 3. */
  readonly exitCode: boolean;
  readonly failFast: boolean;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly guards: Guards;
  readonly stdinIsTaken: boolean;
  /** Is given every row that was not written, once it is known. */
  readonly keepFailed?: ((rows: BulkRows) => Promise<void>) | undefined;
}

/** A plan that is older than this when it is agreed to, in milliseconds, is looked at once more. */
const longestAge = 5000;

/**
 * Shows a plan, asks, writes it, and reports.
 * @throws UsageError where a guard or the person refuses it, and whatever `runErrorOf` says of a run that did not write all
 */
export async function performPlan(session: Session, job: PlanJob, options: PlanOptions): Promise<void> {
  const { invocation, connection } = session;
  const { env } = invocation.where;
  const place = whereName(invocation.where);
  const planned = countWhere(job.rows, ({ result }) => result === 'planned');
  const asks = !options.dryRun && planned > 0 && invocation.questions.willAsk(options.stdinIsTaken);
  const estimator = createEstimator(invocation, connection, options.concurrency);
  await showPreview(invocation, job.rows, estimator, asks);
  requireWithinGuards(job.rows, options.guards);
  const { rows, resumed } = job;
  const report = { run: resumed?.run ?? null, env, dryRun: options.dryRun, rows, unchanged: resumed?.unchanged };
  if (options.dryRun) {
    if (!isShown(invocation, report)) await printReport(invocation, report);
    if (options.exitCode && planned > 0) throw new ChangesFound('There are changes');
  }
  if (planned === 0) return reportWithoutWriting(invocation, report, options);
  if (options.dryRun) return;
  const what = `${grouped(planned)} ${planned === 1 ? 'change' : 'changes'}`;
  await invocation.questions.confirmBulk({
    question: `${job.verb} ${what} ${job.verb === 'Write' ? 'to' : 'in'} ${place}?`,
    typed: env === 'production' ? place : undefined,
    stdinIsTaken: options.stdinIsTaken,
    look: job.look,
  });
  await writeAndReport(session, await withFreshStock(session, job), options, estimator);
}

/** The plan may be older than the answer: rows whose stock has moved meanwhile are conflicts. */
async function withFreshStock({ invocation, readStock }: Session, job: PlanJob): Promise<PlanJob> {
  const { clock } = invocation.context;
  if (clock.monotonic() - job.readAt <= longestAge) return job;
  const readAt = clock.monotonic();
  const { rows } = job;
  const petIds = new PetIdSet();
  for (const { petId, result } of rows) if (result === 'planned') petIds.add(petId);
  const { quantities, mark } = await readStock(petIds);
  for (let index = 0; index < rows.length; index += 1) {
    const { petId, before, after, result } = rows.at(index);
    const found = quantities.get(petId);
    if (result !== 'planned' || after === undefined || before === undefined || found === before) continue;
    const message = stockMovedMessage({ row: 0, petId, before, after }, quantities);
    rows.settle(index, { result: 'conflict', quantity: undefined, error: { code: 'conflict', message } });
  }
  return { ...job, mark, readAt };
}

/** There is nothing to write, or nothing that may be written. */
async function reportWithoutWriting(
  invocation: Invocation,
  report: BulkReport,
  { dryRun, keepFailed }: PlanOptions,
): Promise<void> {
  const error = runErrorOf({ report, progression: undefined, cause: undefined, where: invocation.where });
  if (!dryRun) {
    await invocation.messages.note('Nothing to write.');
    const fault = await errorAfterKeeping(error, report.rows, keepFailed);
    await printReportBefore(fault, invocation, report);
    if (fault) throw fault;
  }
  if (error) throw error;
}

/** Where the file can't be written, that is said once the report is. @returns what the run ends with */
async function errorAfterKeeping(
  error: PetstockError | undefined,
  rows: BulkRows,
  keepFailed: PlanOptions['keepFailed'],
): Promise<PetstockError | undefined> {
  const unwritten = notWritten(rows);
  try {
    await keepFailed?.(unwritten);
    return error;
  } catch (reason) {
    const { withUnkeptRows } = await import('./unkept-rows.ts');
    return withUnkeptRows(error, unwritten, reason);
  }
}

function notWritten(rows: BulkRows): BulkRows {
  return rowsWhere(rows, ({ result }) => result !== 'applied' && result !== 'unchanged');
}

/** @throws UsageError where a plan is larger than `--max-changes` or `--max-zero` allow */
export function requireWithinGuards(rows: BulkRows, guards: Guards): void {
  const faults = guardFaults({ rows }, guards);
  if (faults.length === 0) return;
  throw new UsageError(`The plan is refused, and nothing was written: ${faults.join('; ')}`);
}

async function writeAndReport(
  session: Session,
  job: PlanJob,
  options: PlanOptions,
  estimator: Estimator,
): Promise<void> {
  const { invocation } = session;
  const { where } = invocation;
  const numbers = job.resumed?.numbers ?? numberRows(job.rows);
  const log = await job.begin(job.rows, numbers);
  const { progression, cause } = await write(session, { job, options, log, numbers, estimator });
  const { rows, resumed } = job;
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows.at(index);
    if (row.result === 'planned') rows.settle(index, rowAfter(row, numbers[index], progression));
  }
  const report = { run: log.run, env: where.env, dryRun: false, rows, unchanged: resumed?.unchanged };
  await invocation.messages.note(reportSummary(report));
  const error = await errorAfterKeeping(runErrorOf({ report, progression, cause, where }), rows, options.keepFailed);
  await printReportBefore(error, invocation, report);
  await noteUndo(invocation, report);
  if (error) throw error;
}

interface Writing {
  readonly job: PlanJob;
  readonly options: PlanOptions;
  readonly log: RunLog;
  readonly numbers: readonly (number | undefined)[];
  readonly estimator: Estimator;
}

async function write(
  { invocation, connection, readStock }: Session,
  { job, options, log, numbers, estimator }: Writing,
): Promise<{ readonly progression: Progression; readonly cause: unknown }> {
  const { clock, random, interrupted } = invocation.context;
  const writes = rowWrites(job.rows, numbers);
  const progress = await invocation.messages.startProgress(writes.length, (requests) => estimator(requests).seconds);
  let [done, failed] = [0, 0];
  let stopping = Promise.resolve();
  const onInterrupt = () => {
    stopping = invocation.messages.note(stoppingText(log.run, invocation.where));
  };
  interrupted.addEventListener('abort', onInterrupt, { once: true });
  const progression = await writeRows(writes, {
    client: connection.client,
    governor: connection.governor,
    presence: connection.state.presence,
    log,
    readStock,
    clock,
    random,
    mark: job.mark,
    timeout: connection.timeout,
    staleAfter: longestAge,
    concurrency: options.concurrency,
    failFast: options.failFast,
    interrupted,
    onSettled: ({ result }) => {
      done += 1;
      if (result !== 'applied' && result !== 'unchanged') failed += 1;
      progress.update({ done, failed });
    },
    onDelay: (sentence) => void invocation.messages.note(`${sentence}.`),
  });
  interrupted.removeEventListener('abort', onInterrupt);
  // A wait ends at once: what is said of the stop comes before what is said of its outcome.
  await stopping;
  await progress.stop();
  const unclosed = await log.end().catch((error: unknown) => ({ error }));
  return { progression, cause: progression.stoppedBy ?? unclosed?.error };
}

/** Said at once, since a second Ctrl-C ends the process without another word. */
function stoppingText(run: string, where: Where): string {
  const resume = `petstock inventory apply --resume ${run} ${whereOptions(where)}`;
  return `Stopping after the requests in flight. To resume later: ${resume}`;
}

/** On a terminal the preview is all that a person wants of a short dry run. */
function isShown({ context, globals }: Invocation, { dryRun, rows }: BulkReport): boolean {
  const isForPerson = context.stdout.isTerminal && context.stderr.isTerminal && !globals.quiet;
  const isTable = globals.output === undefined && !globals.json;
  return dryRun && isForPerson && isTable && countWhere(rows, ({ result }) => result !== 'unchanged') <= previewedRows;
}
