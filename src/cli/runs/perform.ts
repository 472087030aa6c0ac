import type { PetNames } from '../../inventory/bar-codes.ts';
import { type BulkReport, type BulkRow, isIdle, isWrong } from '../../inventory/change.ts';
import { countsSentence } from '../../output/change-rows.ts';
import { type Intention, planQuestion, previewedRows, previewLines } from '../../output/preview.ts';
import { estimateText } from '../../output/rate-limit-text.ts';
import { serviceTime } from '../../rate-limit/key-state.ts';
import { estimate, knownLimits } from '../../rate-limit/known-limits.ts';
import { execute, hasPlanned, type RunHooks, type RunOptions, type RunPlan } from '../../runs/execute.ts';
import { ChangesFound, PartialError } from '../../shared/errors.ts';
import { petstock, targetWords } from '../../shared/hint.ts';
import { targetName } from '../../shared/target.ts';
import type { Context } from '../context.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { Progress } from '../progress/progress.ts';
import { errorAfterKeeping, isTableForPerson, noteUndo, printReport, printReportBefore } from './print-report.ts';
import type { RunAccess } from './run-access.ts';

export interface PlanJob extends RunPlan {
  readonly intention: Intention;
  /** A command that shows the plan alone. */
  readonly previewCommand: string;
  /** The names of pets; undefined: those of the setting `codes`. */
  readonly names?: PetNames | undefined;
  /** Is called once the run is recorded, before its first request. */
  readonly onBegun?: ((run: string) => Promise<void>) | undefined;
}

export interface PlanOptions extends RunOptions {
  /** A dry run that finds changes ends with exit code 3. */
  readonly exitCode: boolean;
  /** The report leaves out rows that need nothing. */
  readonly changedOnly: boolean;
  readonly stdinIsTaken: boolean;
  /** Is given every row that was not written, once it is known. */
  readonly keepFailed?: ((rows: readonly BulkRow[]) => Promise<void>) | undefined;
}

/** A run of so many takes minutes, and needs memory for what is in flight as long. */
const manyRows = 20_000;

/** Does the work of so many rows with less memory, if they are many. */
export async function savingMemory<T>(
  { saveMemory }: Pick<Context, 'saveMemory'>,
  rows: number,
  work: () => Promise<T>,
): Promise<T> {
  if (rows < manyRows || saveMemory === undefined) return work();
  saveMemory(true);
  return work().finally(() => saveMemory(false));
}

/** Shows a plan, asks, has it carried out, and reports. Returns the run that was begun. @throws whatever it ends with */
export function performPlan(access: RunAccess, job: PlanJob, options: PlanOptions): Promise<string | undefined> {
  return savingMemory(access.invocation.context, job.rows.length, () => perform(access, job, options));
}

async function perform(access: RunAccess, job: PlanJob, options: PlanOptions): Promise<string | undefined> {
  const { invocation, connection } = access;
  const names = job.names ?? (await invocation.petNames());
  const hooks = createHooks(access, { ...job, names }, options);
  if (options.dryRun) await connection.state.history.warnIfOlder();
  const { report, progress, error } = await execute(connection, job, options, hooks);
  if (options.dryRun) {
    if (!isSeen(invocation, report)) await printReport(invocation, report, { ...options, names });
    await endDryRun(access, job, { hasChanges: hasPlanned(report.rows), error, exitCode: options.exitCode });
    return undefined;
  }
  const hasNothing = progress === undefined && !(error instanceof PartialError);
  const summary = hasNothing ? 'Nothing to write.' : countsSentence(report.rows, report.uncounted);
  // A table says the same of one row.
  const isSaid = report.rows.length === 1 && (progress ?? error) !== undefined && isTableForPerson(invocation);
  if (!isSaid) await invocation.messages.note(summary);
  const problem = await errorAfterKeeping(error, report.rows.filter(isWrong), options.keepFailed);
  await printReportBefore(problem, invocation, report, { ...options, names });
  await noteUndo(invocation, report);
  if (problem) throw problem;
  return report.run ?? undefined;
}

/** An error that would keep the run from beginning ends its dry run, too. */
async function endDryRun(
  { connection }: RunAccess,
  job: PlanJob,
  { hasChanges, error, exitCode }: { hasChanges: boolean; error: unknown; exitCode: boolean },
): Promise<void> {
  const { state, serviceName } = connection;
  if (hasChanges) await job.requireNotDuplicate?.();
  if (hasChanges && job.resumed === undefined) await state.history.requireNotRepeated({ ...job.subject, serviceName });
  if (error !== undefined) throw error;
  if (exitCode && hasChanges) throw new ChangesFound('There are changes');
}

/** Returns how long so many requests take, by the limits that the service has stated and the round trip that was measured. */
function createEstimator({ invocation, connection }: RunAccess, concurrency: number) {
  const { scope, state } = connection;
  const { clock } = invocation.context;
  return (requests: number) => {
    const known = state.limits.peek(scope);
    const working = known.roundTrip > 0 ? (Math.ceil(requests / concurrency) * known.roundTrip) / 1000 : undefined;
    // By the service's clock, as its windows are: that of this machine may be wrong.
    const now = serviceTime(known, clock.monotonic()) ?? clock.now();
    return { ...estimate(requests, knownLimits([{ scope, state: known }]), now), working };
  };
}

const openResults: ReadonlySet<string> = new Set(['planned', 'conflict', 'unknown']);

function createHooks(access: RunAccess, job: PlanJob, options: PlanOptions): RunHooks {
  const { invocation } = access;
  const { messages, questions, target, context } = invocation;
  const { stdinIsTaken, dryRun, concurrency } = options;
  const estimator = createEstimator(access, concurrency);
  const asks = !dryRun && questions.willAsk(stdinIsTaken);
  let progress: Progress | undefined;
  let [done, failed] = [0, 0];
  let stopping = Promise.resolve();
  let onInterrupt = () => {};
  return {
    // Of a run that goes on, what is open: the rest is done.
    onPlan: (rows) => {
      const open = job.resumed === undefined ? rows : rows.filter(({ result }) => openResults.has(result));
      if (job.resumed !== undefined && open.length === 0) {
        const isWritten = rows.every(({ result }) => result === 'applied');
        const answered = isWritten ? 'had been written already.' : `have their answer: ${countsSentence(rows)}`;
        return messages.note(`All rows of the run ${answered}`);
      }
      return showPreview(invocation, open, estimator, { asks, dryRun, names: job.names });
    },
    confirm: async (rows) => {
      const question = planQuestion(rows, target, job.intention, job.names);
      const isOne = rows.filter(({ result }) => result === 'planned').length === 1;
      const typed = target.env === 'production' && !isOne ? targetName(target) : undefined;
      const undone = job.resumed && { notDone: 'Nothing more was written' };
      await questions.confirm({ ...question, typed, stdinIsTaken, previewCommand: job.previewCommand, ...undone });
    },
    onBegin: async (run = '', count) => {
      await job.onBegun?.(run);
      progress = await messages.startProgress(count, (requests) => estimator(requests).seconds);
      onInterrupt = () => {
        // At once, since a second Ctrl-C ends the process without another word.
        const resume = petstock`inventory apply --resume ${run} ${targetWords(target)}`;
        stopping = messages.note(`Stopping after the requests in flight. To resume later: ${resume}`);
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
      // A wait ends at once: the line about the stop comes before that about its outcome.
      await stopping;
      await progress?.stop();
    },
  };
}

/**
 * Shows on stderr what is about to be done, and how long that takes under the limits. Of one row whose question says all of it
 * nothing is shown. If nothing is to be written, a table for a person has the rows and why.
 * @param options `asks`: a question follows, so that the plan is shown with `--quiet` too
 */
async function showPreview(
  invocation: Invocation,
  rows: readonly BulkRow[],
  estimator: ReturnType<typeof createEstimator>,
  { asks, dryRun, names }: { readonly asks: boolean; readonly dryRun: boolean } & Pick<PlanJob, 'names'>,
): Promise<void> {
  const { messages, context, globals } = invocation;
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

/** On a terminal the preview is all that a person wants of a short dry run. */
function isSeen({ context, globals }: Invocation, { rows }: BulkReport): boolean {
  const isForPerson = context.stdout.isTerminal && context.stderr.isTerminal && !globals.quiet;
  const isTable = globals.output === undefined && !globals.json;
  return isForPerson && isTable && rows.filter((row) => !isIdle(row)).length <= previewedRows;
}
