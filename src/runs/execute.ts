import { type BulkReport, type BulkRow, countRows } from '../inventory/change.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { type Guards, guardProblems, planTotals } from '../inventory/plan.ts';
import type { RunHead } from '../inventory/run-records.ts';
import { NotFoundError, type PetstockError, UsageError } from '../shared/errors.ts';
import type { Outcome } from '../state/history.ts';
import type { RunLog } from '../state/stored-run-log.ts';
import { rowErrorOf } from '../writes/classify-failure.ts';
import {
  type FinalOutcome,
  rereadRequired,
  type StockSnapshot,
  type WriteOptions,
  type WriteProgress,
} from '../writes/row-write.ts';
import { writeRows } from '../writes/write-rows.ts';
import type { RunContext } from './run-context.ts';
import { dryRunErrorOf, runErrorOf } from './run-error.ts';
import { commonReason, numberRows, plannedRows, rowAfter, rowWrites } from './run-rows.ts';

/** The work that a command wants done. */
export interface RunPlan {
  /** The head of a new run, besides where it goes and who runs it. */
  readonly subject: Pick<RunHead, 'command' | 'file' | 'contentHash' | 'hasDeltas' | 'undoes'>;
  /**
   * The rows of the plan. Rows with the result `planned` are written; the others are final. Each row is replaced in
   * place by its outcome.
   */
  readonly rows: BulkRow[];
  /** The stock that they rely on; undefined for a plain set. */
  readonly stock: Pick<StockSnapshot, 'readVersion' | 'readAt'> | undefined;
  /** A run that goes on. */
  readonly resumed?: ResumedRun | undefined;
  /** The write of one pet, which has its admission and its place; it is worded as such, and not resumed. */
  readonly single?: { readonly reserved?: WriteOptions['reserved'] } | undefined;
  /** Called right before the run is recorded, as `History.begin` has it. */
  requireNotDuplicate?(): Promise<string | undefined>;
}

export interface ResumedRun {
  readonly run: string;
  /** Undefined in a dry run, which takes nothing over. */
  readonly log: RunLog | undefined;
  /** The number of each row in the run. */
  readonly numbers: readonly number[];
  /** Of rows that are not written: they are final, so that they wait until the plan is agreed to. */
  readonly outcomes: readonly Outcome[];
  readonly uncounted: BulkReport['uncounted'];
}

/** How it is to be done. */
export interface RunOptions {
  readonly dryRun: boolean;
  readonly failFast: boolean;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly guards: Guards;
}

/** Callbacks that show a run's plan and progress, and ask for confirmation. */
export interface RunHooks {
  /** Is shown the plan, before anything else. */
  onPlan?(rows: readonly BulkRow[]): Promise<void>;
  /** Throws if the plan is not agreed to. */
  confirm?(rows: readonly BulkRow[]): Promise<void>;
  /** The rows are about to be written, so many. @param run undefined if it begins with the first of them */
  onBegin?(run: string | undefined, count: number): Promise<void>;
  onSettled?(settlement: FinalOutcome): void;
  /** Is given each item that the service answers. */
  onItem?(item: InventoryItem): void;
  /** Nothing more is written. */
  onEnd?(): Promise<void>;
}

export interface RunResult {
  readonly report: BulkReport;
  /** Undefined if nothing was to be written. */
  readonly progress: WriteProgress | undefined;
  /** The failure that the run ends with; undefined if every row is as it should be. */
  readonly error: PetstockError | undefined;
}

/** A plan that is older than this when it is agreed to, in milliseconds, is looked at once more. */
const maxAge = 5000;
/** A wait between reading one pet and writing it that is longer, in milliseconds, makes its stock too old. */
export const maxGap = 1000;

/**
 * Carries out a plan: shows it, checks the guards, asks, records the run, writes, and says what became of each row. The one way
 * in which anything is written.
 * @throws UsageError if a guard or the person refuses the plan
 */
export async function execute(
  context: RunContext,
  plan: RunPlan,
  options: RunOptions,
  hooks: RunHooks = {},
): Promise<RunResult> {
  const { rows, resumed } = plan;
  await hooks.onPlan?.(rows);
  requireWithinGuards(rows, options.guards, resumed !== undefined);
  const isAgreed = !options.dryRun && hasPlanned(rows);
  if (isAgreed) await hooks.confirm?.(rows);
  resumed?.log?.settle(resumed.outcomes);
  return isAgreed ? write(context, plan, options, hooks) : endUnwritten(context, plan, options);
}

function hasPlanned(rows: readonly BulkRow[]): boolean {
  return rows.some(({ result }) => result === 'planned');
}

/** Ends a plan of which nothing is to be written, or no more. */
async function endUnwritten(context: RunContext, plan: RunPlan, { dryRun }: RunOptions): Promise<RunResult> {
  const { resumed } = plan;
  const { target } = context;
  const cause = await endLog(resumed?.log);
  const report = reportOf(context, plan, resumed?.run ?? null, dryRun);
  const end = { report, progress: undefined, cause, target, isResumed: resumed !== undefined };
  return { report, progress: undefined, error: dryRun ? dryRunErrorOf(end) : runErrorOf(end) };
}

/** Leaves the run. Returns what has failed, if anything: then the history may lack what was written. */
function endLog(log: RunLog | undefined): Promise<unknown> {
  return log === undefined ? Promise.resolve() : log.end().catch((error: unknown) => error);
}

/** @throws UsageError if a plan is larger than `--max-changes` or `--max-zero` allow */
export function requireWithinGuards(rows: readonly BulkRow[], guards: Guards, isResumed = false): void {
  const problems = guardProblems({ rows }, guards);
  if (problems.length === 0) return;
  throw new UsageError(
    `The plan exceeds its limits: ${problems.join('; ')}. Nothing ${isResumed ? 'more ' : ''}was written`,
  );
}

function reportOf({ target }: RunContext, { rows, resumed }: RunPlan, run: string | null, dryRun: boolean): BulkReport {
  return { run, env: target.env, dryRun, rows, uncounted: resumed?.uncounted };
}

/** How many increments may come to 0 beside those of the plan. */
function maxMoreZeros(rows: readonly BulkRow[], { maxZero }: Guards): number | undefined {
  const { toZero, belowZero } = planTotals(rows);
  return maxZero === undefined ? undefined : Math.max(0, maxZero - toZero - belowZero);
}

/** Returns the stock that the rows rely on. The plan may be older than the answer to a question: then it is read again before any row is sent. */
function stockOf({ clock }: RunContext, { stock, single }: RunPlan): RunPlan['stock'] {
  const isOld = stock !== undefined && single === undefined && clock.monotonic() - stock.readAt > maxAge;
  return isOld ? { readVersion: stock.readVersion, readAt: rereadRequired } : stock;
}

async function write(context: RunContext, plan: RunPlan, options: RunOptions, hooks: RunHooks): Promise<RunResult> {
  const { rows, resumed, single } = plan;
  const numbers = resumed?.numbers ?? numberRows(rows);
  const log = resumed?.log ?? (await begin(context, plan, numbers));
  const count = rows.filter(({ result }) => result === 'planned').length;
  await hooks.onBegin?.(log.hasBegun ? log.run : undefined, count);
  const progress = await writeRows(rowWrites(rows, numbers), {
    ...engineOptions(context, plan, options, hooks),
    log,
    writesSince: (sent) => context.state.petWrites.after({ serviceName: context.serviceName, run: log.run }, sent),
  });
  const { stoppedBy } = progress;
  const stopped = stoppedBy === undefined ? undefined : rowErrorOf(stoppedBy);
  for (const [index, row] of rows.entries()) rows[index] = rowAfter(row, numbers[index], progress, stopped);
  if (single !== undefined) markUnsentAsFailed(rows, log, progress);
  const run = log.hasBegun ? log.run : null;
  await hooks.onEnd?.();
  const unclosed = await endLog(log);
  const cause = progress.stoppedBy ?? unclosed;
  // A run that is no longer in the history is no way on.
  const isLost = run !== null && cause !== undefined && (await isLostRun(context, run));
  const report = reportOf(context, plan, isLost ? null : run, false);
  const isSingle = single !== undefined;
  const isResumed = resumed !== undefined;
  const error = runErrorOf({ report, progress, cause, target: context.target, isSingle, isResumed });
  return { report, progress, error: run === null ? error : error?.with({ run }) };
}

async function begin(context: RunContext, plan: RunPlan, numbers: readonly (number | undefined)[]) {
  const { rows, subject, single } = plan;
  const { target, baseUrl, serviceName, scope, user, state } = context;
  const { unchanged, skipped, notEdited } = countRows(rows);
  const head: RunHead = {
    ...subject,
    env: target.env,
    store: target.store,
    baseUrl,
    serviceName,
    scope,
    user,
    reason: commonReason(rows),
    unchanged,
    skipped,
    notEdited,
  };
  const planned = { [Symbol.iterator]: () => plannedRows(rows, numbers) };
  // Together with its first intent, in one transaction.
  if (single !== undefined) return state.history.beginLater(head, planned);
  return state.history.begin(head, planned, plan.requireNotDuplicate);
}

function engineOptions(
  context: RunContext,
  plan: RunPlan,
  { concurrency, failFast, guards }: RunOptions,
  hooks: RunHooks,
): Omit<WriteOptions, 'log' | 'writesSince'> {
  const { rows, single } = plan;
  const seen = hooks.onItem && ((item: InventoryItem) => hooks.onItem?.(item));
  const updateInventory: WriteOptions['client']['updateInventory'] = async (...args) => {
    const item = await context.client.updateInventory(...args);
    seen?.(item);
    return item;
  };
  return {
    ...context,
    client: seen === undefined ? context.client : { updateInventory },
    presence: context.state.presence,
    readStock: async (...args) => {
      const { StockReader } = await import('./stock-reader.ts');
      return new StockReader(context, seen, true).read(...args);
    },
    stock: stockOf(context, plan),
    reserved: single?.reserved,
    staleAfter: single === undefined ? maxAge : maxGap,
    concurrency,
    failFast,
    maxMoreZeros: maxMoreZeros(rows, guards),
    onSettled: (settlement) => hooks.onSettled?.(settlement),
  };
}

/** A single write is not resumed unless its outcome is unknown: else it has failed. */
function markUnsentAsFailed(rows: BulkRow[], log: RunLog, { stoppedBy }: WriteProgress): void {
  const [row] = rows;
  if (row === undefined || (row.result !== 'notAttempted' && row.result !== 'failed')) return;
  const error = row.error ?? rowErrorOf(stoppedBy);
  rows[0] = { ...row, result: 'failed', error };
  // What ended the run is said by its error.
  log.settle([{ row: 1, petId: row.petId, result: 'failed', error }]);
}

function isLostRun({ state }: RunContext, run: string): Promise<boolean> {
  return state.history.run(run).then(
    () => false,
    (reason) => reason instanceof NotFoundError,
  );
}
