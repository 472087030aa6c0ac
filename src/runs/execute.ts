import { type BulkReport, type BulkRow, countRows, isIdle } from '../inventory/change.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { type Guards, guardProblems, planTotals } from '../inventory/plan.ts';
import type { RunHead } from '../inventory/run-records.ts';
import { NotFoundError, type PetstockError, UnavailableError, UsageError } from '../shared/errors.ts';
import type { Outcome } from '../state/intents-and-outcomes.ts';
import type { RunLog } from '../state/run-log.ts';
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

export interface RunPlan {
  /** The fields of a new run's head that the command determines. A resumed run keeps its head. */
  readonly subject: Pick<RunHead, 'command' | 'file' | 'contentHash' | 'hasDeltas' | 'undoes'>;
  /**
   * The rows of the plan. Rows with the result `planned` are written, and then replaced in place by their outcomes; the
   * others are final.
   */
  readonly rows: BulkRow[];
  /** The read version and the time of the stock that the rows depend on; undefined if they depend on none. */
  readonly stock: Pick<StockSnapshot, 'readVersion' | 'readAt'> | undefined;
  readonly resumed?: ResumedRun | undefined;
  /**
   * Set for a command that changes a single pet. Messages are then about that pet, and the run can be resumed only if
   * its outcome is unknown. `reserved` is set, too, if the stock was read first.
   */
  readonly single?: { readonly reserved?: WriteOptions['reserved'] } | undefined;
  /** Called right before a new run is recorded, unless `single` is set; see `History.begin`. */
  requireNotDuplicate?(): Promise<string | undefined>;
}

export interface ResumedRun {
  readonly run: string;
  /** Undefined in a dry run, because that does not take the run over. */
  readonly log: RunLog | undefined;
  /** For each row of the plan, its number in the run. */
  readonly numbers: readonly number[];
  /**
   * Outcomes of rows that will not be written, such as conflicts. They are final, so they are recorded only after the
   * guards have accepted the plan and the user has confirmed it. Rows that turned out to be applied are not among them,
   * because `planResume` has recorded them.
   */
  readonly outcomes: readonly Outcome[];
  readonly uncounted: BulkReport['uncounted'];
}

export interface RunOptions {
  readonly dryRun: boolean;
  readonly failFast: boolean;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly guards: Guards;
}

/** Callbacks that show a run's plan and progress, and ask for confirmation. */
export interface RunHooks {
  /** Shows the plan, before anything else. */
  onPlan?(rows: readonly BulkRow[]): Promise<void>;
  /** Asks for confirmation; throws if it is denied. Not called in a dry run, or if no row is planned. */
  confirm?(rows: readonly BulkRow[]): Promise<void>;
  /**
   * Called right before rows are written.
   * @param run the id of the run; undefined if the run is recorded only with its first intent
   * @param count the number of rows to write
   */
  onBegin?(run: string | undefined, count: number): Promise<void>;
  onSettled?(outcome: FinalOutcome): void;
  /** Called with each item that the service returns for a pet of the run. */
  onItem?(item: InventoryItem): void;
  /** Called after `onBegin`, when nothing more will be written. */
  onEnd?(): Promise<void>;
}

export interface RunResult {
  readonly report: BulkReport;
  /** Undefined in a dry run, and if no row was to be written. */
  readonly progress: WriteProgress | undefined;
  /** The error that the run ends with; undefined if every row succeeded. */
  readonly error: PetstockError | undefined;
}

/**
 * Maximum age of the stock when the plan of several pets is confirmed, and maximum wait for the rate limit after that,
 * in milliseconds. If either is exceeded, the stock is read again.
 */
const maxAge = 5000;
/**
 * Maximum wait for the rate limit between reading and writing the stock of a single pet, in milliseconds. After a
 * longer wait the stock is read again.
 */
export const maxGap = 1000;

/**
 * Carries out a plan: shows it, checks the guards, asks for confirmation, records the run, writes the rows, and reports
 * their outcomes. All writes of the command line go through this function, except `petstock api`.
 * @throws UsageError if a guard rejects the plan; the errors of `History.begin` and of the hooks. Any other error is
 * returned
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
  const isConfirmed = !options.dryRun && hasPlanned(rows);
  if (isConfirmed) await hooks.confirm?.(rows);
  resumed?.log?.settle(resumed.outcomes);
  return isConfirmed ? write(context, plan, options, hooks) : endUnwritten(context, plan, options);
}

export function hasPlanned(rows: readonly BulkRow[]): boolean {
  return rows.some(({ result }) => result === 'planned');
}

/** Ends a dry run, or a plan with no row to write. */
async function endUnwritten(context: RunContext, plan: RunPlan, { dryRun }: RunOptions): Promise<RunResult> {
  const { resumed } = plan;
  const { target } = context;
  const cause = await endLog(resumed?.log);
  const report = reportOf(context, plan, resumed?.run ?? null, dryRun);
  const end = { report, progress: undefined, cause, target, isResumed: resumed !== undefined };
  return { report, progress: undefined, error: dryRun ? dryRunErrorOf(end) : runErrorOf(end) };
}

/** Ends the log. Returns the error if that fails, because the history may then lack outcomes. */
function endLog(log: RunLog | undefined): Promise<unknown> {
  return log === undefined ? Promise.resolve() : log.end().catch((error: unknown) => error);
}

/** @throws UsageError if a plan exceeds `maxChanges` or `maxZero` */
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

/** Returns how many deltas may bring a stock to 0, besides those in the plan; undefined if any number may. */
function maxMoreZeros(rows: readonly BulkRow[], { maxZero }: Guards): number | undefined {
  const { toZero, belowZero } = planTotals(rows);
  return maxZero === undefined ? undefined : Math.max(0, maxZero - toZero - belowZero);
}

/**
 * Returns the stock that the rows depend on. If the plan has several pets and the stock became too old while the user
 * was asked, marks it to be read again before any row is sent.
 */
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
  // If every row was read back as written, and the history has the outcomes, it no longer matters that the service was
  // unavailable.
  const isOver =
    unclosed === undefined &&
    stoppedBy instanceof UnavailableError &&
    rows.every((row) => row.result === 'applied' || isIdle(row));
  const cause = isOver ? undefined : (stoppedBy ?? unclosed);
  // A run that is no longer in the history can't be resumed.
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
  // The run is written in one transaction with its first intent.
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
    onSettled: (outcome) => hooks.onSettled?.(outcome),
  };
}

/**
 * Marks a single write that was not carried out as failed, because a single write can only be resumed if its outcome is
 * unknown.
 */
function markUnsentAsFailed(rows: BulkRow[], log: RunLog, { stoppedBy }: WriteProgress): void {
  const [row] = rows;
  if (row === undefined || (row.result !== 'notAttempted' && row.result !== 'failed')) return;
  const error = row.error ?? rowErrorOf(stoppedBy);
  rows[0] = { ...row, result: 'failed', error };
  log.settle([{ row: 1, petId: row.petId, result: 'failed', error }]);
}

function isLostRun({ state }: RunContext, run: string): Promise<boolean> {
  return state.history.run(run).then(
    () => false,
    (reason) => reason instanceof NotFoundError,
  );
}
