import type { PetNames } from '../../inventory/bar-codes.ts';
import { type BulkReport, type BulkRow, isIdle } from '../../inventory/change.ts';
import { listed } from '../../inventory/items.ts';
import type { Intention } from '../../output/preview.ts';
import { estimateText } from '../../output/rate-limit-text.ts';
import { countsSentence } from '../../output/report-view.ts';
import { serviceTime } from '../../rate-limit/key-state.ts';
import { estimate, knownLimits } from '../../rate-limit/known-limits.ts';
import { ChangesFound, PartialError } from '../../shared/errors.ts';
import { petstock, targetName, targetWords } from '../../shared/hint.ts';
import {
  carryOut,
  hasPlanned,
  type RunHooks,
  type RunOptions,
  type RunPlan,
  type RunResult,
} from '../../writes/carry-out.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { Progress } from '../progress/progress.ts';
import { errorAfterKeeping, isTableForPerson, noteUndo, printReport, printReportBefore } from './print-report.ts';
import type { RunAccess } from './run-access.ts';

export interface PlanJob extends RunPlan {
  /** Undefined if nothing is asked. */
  readonly intention?: Intention | undefined;
  /** The names of the pets. Default: those of the codes file. */
  readonly names?: PetNames | undefined;
  /** Called once the run is recorded, before its first write. */
  readonly onBegun?: ((run: string) => Promise<void>) | undefined;
  /** Shows the outcome in place of the report of rows, except that of a dry run; throws the error that the run ends with. */
  readonly showOutcome?: ((end: RunResult) => Promise<void>) | undefined;
}

export interface PlanOptions extends RunOptions {
  /** Whether a dry run that finds changes ends with exit code 3. */
  readonly exitCode: boolean;
  /** Whether the report leaves out unchanged rows. */
  readonly changedOnly: boolean;
  /** Called at the end, except of a dry run, with all rows that did not get the stock. A lost run can't be resumed. */
  readonly keepFailed?: ((rows: readonly BulkRow[], isLost: boolean) => Promise<void>) | undefined;
  /** Receives the rows of a dry run if the real run could begin. */
  readonly keepPlan?: ((rows: readonly BulkRow[]) => Promise<void>) | undefined;
}

/** Warns of stocks that go below zero, where no plan is shown that says so. */
export async function warnBelowZero({ messages }: Invocation, rows: readonly BulkRow[]): Promise<void> {
  const below = rows.filter(({ after = 0 }) => after < 0);
  const lineOf = ({ petId, before, after }: BulkRow) => `Pet ${petId} goes BELOW ZERO: ${before ?? '?'} → ${after}`;
  for (const line of listed(below, lineOf)) await messages.warn(line);
}

/**
 * Shows a plan, asks for confirmation, carries it out, and reports.
 * @returns the id of the run; undefined if no run was begun
 * @throws the error that the run ends with
 */
export async function performPlan(access: RunAccess, job: PlanJob, options: PlanOptions): Promise<string | undefined> {
  const { invocation, connection } = access;
  const { dryRun } = options;
  if (job.showOutcome !== undefined && !dryRun) {
    const end = await carryOut(connection, job, options, createHooks(access, job, options));
    await job.showOutcome(end);
    return end.report.run ?? undefined;
  }
  const names = job.names ?? (await invocation.remarks('person')).names;
  const named = { ...job, names };
  const end = await carryOut(connection, job, options, createHooks(access, named, options));
  await (dryRun ? showDryRun : showReport)(invocation, named, options, end);
  return dryRun ? undefined : (end.report.run ?? undefined);
}

/** @throws the error that would keep the real run from beginning, or that it would end with */
async function showDryRun(
  invocation: Invocation,
  job: PlanJob,
  options: PlanOptions,
  { report, error }: RunResult,
): Promise<void> {
  if (options.keepPlan !== undefined) {
    // Saved before the report is printed, because the reader of the report may close the pipe.
    await requireBeginnable(job, report.rows);
    await options.keepPlan(report.rows);
  }
  if (!(await isSeen(invocation, report))) await printReport(invocation, report, { ...options, names: job.names });
  await requireBeginnable(job, report.rows);
  if (error !== undefined) throw error;
  if (options.exitCode && hasPlanned(report.rows)) throw new ChangesFound('There are changes');
}

/** @throws the error that the run ends with */
async function showReport(
  invocation: Invocation,
  { names }: PlanJob,
  options: PlanOptions,
  { report, execution, error }: RunResult,
): Promise<void> {
  const hasNothing = execution === undefined && !(error instanceof PartialError);
  const summary = hasNothing ? 'Nothing to write.' : countsSentence(report.rows, report.uncounted);
  // For a single row the table already shows the summary.
  const isSaid = report.rows.length === 1 && (execution ?? error) !== undefined && isTableForPerson(invocation);
  if (!isSaid) await invocation.messages.note(summary);
  const problem = await errorAfterKeeping(invocation, error, report, options.keepFailed);
  await printReportBefore(problem, invocation, report, { ...options, names });
  await noteUndo(invocation, report);
  if (problem) throw problem;
}

/** @throws the error that would keep the real run from beginning, because the same changes were written before */
async function requireBeginnable(job: PlanJob, rows: readonly BulkRow[]): Promise<void> {
  if (hasPlanned(rows)) await job.requireNotDuplicate?.();
}

/**
 * Creates a function that estimates how long a number of requests takes, by the reported limits and the measured round
 * trip.
 */
function createEstimator({ connection }: RunAccess, concurrency: number) {
  const { limits } = connection;
  return (requests: number) => {
    const known = limits.state;
    const working = known.roundTrip > 0 ? (Math.ceil(requests / concurrency) * known.roundTrip) / 1000 : undefined;
    // Uses the service's clock, like the windows, because this machine's may be wrong.
    const now = serviceTime(known, limits.now);
    return { ...estimate(requests, knownLimits(known, limits.now), now), working };
  };
}

const openResults: ReadonlySet<string> = new Set(['planned', 'conflict', 'unknown']);

function createHooks(access: RunAccess, job: PlanJob, options: PlanOptions): RunHooks {
  const { invocation } = access;
  const { messages, questions, target, context } = invocation;
  const { dryRun, concurrency } = options;
  const estimator = createEstimator(access, concurrency);
  const asks = !dryRun && questions.willAsk();
  let progress: Progress | undefined;
  let [done, failed] = [0, 0];
  let stopping = Promise.resolve();
  let onInterrupt = () => {};
  return {
    // A resumed run shows only the rows that are still open.
    onPlan: async (rows) => {
      const open = job.resumed === undefined ? rows : rows.filter(({ result }) => openResults.has(result));
      if (job.resumed !== undefined && open.length === 0) {
        const isWritten = rows.every(({ result }) => result === 'applied');
        const outcome = isWritten ? 'were already written.' : `already have their outcome: ${countsSentence(rows)}`;
        return messages.note(`All rows of the run ${outcome}`);
      }
      if (job.single !== undefined && !dryRun) return;
      if (!context.stderr.isTerminal) {
        const planned = open.filter(({ result }) => result === 'planned');
        await warnBelowZero(invocation, planned);
      }
      return showPreview(invocation, open, estimator, { asks, dryRun, names: job.names });
    },
    confirm: async (rows) => {
      if (job.intention === undefined) return;
      const { planQuestion } = await import('../../output/preview.ts');
      const question = planQuestion(rows, target, job.intention, job.names);
      const isOne = rows.filter(({ result }) => result === 'planned').length === 1;
      const typed = target.env === 'production' && !isOne ? targetName(target) : undefined;
      const notDone = job.resumed && { notDone: 'Nothing more was written' };
      await questions.confirm({ ...question, typed, ...notDone });
    },
    onBegin: async (run, count) => {
      let stop = 'Stopping after the current request. Press Ctrl-C again to quit at once.';
      if (run !== undefined) {
        await job.onBegun?.(run);
        progress = await messages.startProgress(count, (requests) => estimator(requests).seconds);
        const resume = petstock`inventory apply --resume ${run} ${targetWords(target)}`;
        stop = `Stopping after the current requests. To resume later: ${resume}`;
      }
      // Printed at once, because a second Ctrl-C ends the process without further output.
      onInterrupt = () => {
        stopping = messages.note(stop);
      };
      context.interrupted.addEventListener('abort', onInterrupt, { once: true });
    },
    onSettled: ({ result }) => {
      done += 1;
      if (result !== 'applied' && result !== 'unchanged') failed += 1;
      progress?.update({ done, failed });
    },
    onEnd: async () => {
      context.interrupted.removeEventListener('abort', onInterrupt);
      // The line about stopping is printed before the line about the outcome.
      await stopping;
      await progress?.stop();
    },
  };
}

/**
 * Shows the plan on stderr, and how long it takes under the limits. Shows nothing if the question already shows a
 * single row. Shows only the counts if there is nothing to write and the report on a terminal shows the reasons.
 * @param options with `asks`, a question follows, so the plan is shown even with `--quiet`
 */
async function showPreview(
  invocation: Invocation,
  rows: readonly BulkRow[],
  estimator: ReturnType<typeof createEstimator>,
  { asks, dryRun, names }: { readonly asks: boolean; readonly dryRun: boolean } & Pick<PlanJob, 'names'>,
): Promise<void> {
  const { messages, context, globals } = invocation;
  // Loaded late, because a single write shows no plan.
  const { previewLines } = await import('../../output/preview.ts');
  const changes = rows.filter(({ result }) => result === 'planned').length;
  const shown = rows.filter((row) => !isIdle(row));
  if (asks && changes === 1 && shown.length === 1) return;
  if (changes === 0 && shown.length > 0 && !dryRun && isTableForPerson(invocation)) {
    if (rows.length > 1) await messages.note(countsSentence(rows));
    return;
  }
  const taken = estimator(changes);
  const text = changes === 0 ? undefined : estimateText(changes, taken, context.clock.now());
  const options = { estimate: text, isAsked: asks && changes > 0, names };
  await messages.show((paint, width) => previewLines(rows, { paint, width, ...options }), { always: asks });
  if ((taken.day?.waiting ?? 0) > 0 && globals.maxWait === undefined) {
    await messages.note(
      'The run stops when the daily quota is used up, and can be resumed later. To wait instead, add --max-wait <seconds>.',
    );
  }
}

/** Reports whether the preview already shows everything about a short dry run on a terminal. */
async function isSeen({ context, globals }: Invocation, { rows }: BulkReport): Promise<boolean> {
  const { previewedRows } = await import('../../output/preview.ts');
  const isForPerson = context.stdout.isTerminal && context.stderr.isTerminal && !globals.quiet;
  const isTable = globals.output === undefined && !globals.json;
  return isForPerson && isTable && rows.filter((row) => !isIdle(row)).length <= previewedRows;
}
