import { type BulkReport, type BulkRow, countRows, isIdle, owedDelta, type RowError } from '../inventory/change.ts';
import { type Guards, guardProblems, planTotals } from '../inventory/plan.ts';
import type { PlannedRow, RunHead } from '../inventory/run-records.ts';
import { NotFoundError, PetstockError, UnavailableError, UsageError } from '../shared/errors.ts';
import type { Target } from '../shared/hint.ts';
import { uncapitalized } from '../shared/parsed.ts';
import { settle } from '../state/intents.ts';
import { isOpen, type OpenRun, type Row } from '../state/open-run.ts';
import { rowErrorOf } from './classify-failure.ts';
import { execute } from './execute.ts';
import { dryRunErrorOf, runErrorOf } from './run-error.ts';
import { basisOf, type Stock } from './stock.ts';
import type { Execution, SinglePlan, WriteContext } from './write-context.ts';

/** The target of a run, who writes it, and what is needed to carry it out. */
export interface RunContext extends WriteContext {
  readonly target: Target;
  readonly baseUrl: string;
  /** The result of `serviceNameOf`. */
  readonly service: string;
  /** A hash of the key and the service's origin: the result of `scopeOf`. */
  readonly scope: string;
  /** The name to record in the history; undefined if the system has none for the user. */
  readonly user: string | undefined;
  readonly host: string;
  readonly pid: number;
}

export interface RunPlan {
  /** The fields of a new run's head that the command determines. A resumed run keeps its head. */
  readonly subject: Pick<RunHead, 'command' | 'file' | 'contentHash' | 'undoes'>;
  /**
   * The rows of the plan. Rows with the result `planned`, and unknown ones of a resumed run, are written, and then
   * replaced in place by their outcomes; the others are final.
   */
  readonly rows: BulkRow[];
  /** The stock that the rows were planned with; undefined if it was not read. */
  readonly stock: Stock | undefined;
  readonly resumed?: ResumedRun | undefined;
  /** The pets of a stock-take: where the count agrees with the stock, the history keeps that, too. */
  readonly confirmed?: ConfirmedPets;
  /** Set for a command that changes a single pet. */
  readonly single?: SinglePlan | undefined;
  /**
   * Called before a new run is recorded, and to explain a dry run.
   * @returns the newest run of the same content; undefined if the content may be repeated
   */
  requireNotDuplicate?(): Promise<{ readonly run: string | undefined } | undefined>;
}

export interface ResumedRun {
  readonly run: string;
  /** Undefined in a dry run, which does not take the run over. Its rows are those of the plan, in their order. */
  readonly open: OpenRun | undefined;
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
  /** Asks for confirmation; throws if it is denied. Not called in a dry run, or if nothing may be sent. */
  confirm?(rows: readonly BulkRow[]): Promise<void>;
  /**
   * Called right before rows are written.
   * @param run the id of the run; undefined if the run is recorded only with its first intent
   * @param count the number of rows to write
   */
  onBegin?(run: string | undefined, count: number): Promise<void>;
  onSettled?(row: Row): void;
  /** Called after `onBegin`, when nothing more will be written. */
  onEnd?(): Promise<void>;
}

export interface RunResult {
  readonly report: BulkReport;
  /** Undefined in a dry run, and if no row was to be written. */
  readonly execution: Execution | undefined;
  /** The error that the run ends with; undefined if every row succeeded. */
  readonly error: PetstockError | undefined;
}

/**
 * Carries out a plan: shows it, checks the guards, asks for confirmation, records the run, writes the rows, and reports
 * their outcomes. All writes of the command line go through this function, except `petstock api`.
 * @throws UsageError if a guard rejects the plan; the errors of `History.begin` and of the hooks. Any other error is
 * returned
 */
export async function carryOut(
  context: RunContext,
  plan: RunPlan,
  options: RunOptions,
  hooks: RunHooks = {},
): Promise<RunResult> {
  const { rows, resumed, single, confirmed } = plan;
  await hooks.onPlan?.(rows);
  requireWithinGuards(rows, options.guards, resumed !== undefined);
  const isRecordable = rows.some((row) => row.result === 'unchanged' && isRecorded(row, confirmed));
  const hasWork = !options.dryRun && (hasPlanned(rows) || isRecordable || resumed?.open?.rows.some(isOpen) === true);
  if (hasWork && rows.some(({ result }) => result === 'planned' || (resumed && result === 'unknown'))) {
    await hooks.confirm?.(rows);
  }
  if (hasWork) return write(context, plan, options, hooks);
  const { target } = context;
  const report = reportOf(context, plan, resumed?.run ?? null, options.dryRun);
  const facts = { target, isSingle: single !== undefined, isResumed: resumed !== undefined };
  const end = { report, execution: undefined, cause: undefined, ...facts };
  return { report, execution: undefined, error: options.dryRun ? dryRunErrorOf(end) : runErrorOf(end) };
}

export function hasPlanned(rows: readonly BulkRow[]): boolean {
  return rows.some(({ result }) => result === 'planned');
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

/** Returns how many deltas may bring a stock to 0, besides those in the plan. */
function moreZeros(rows: readonly BulkRow[], { maxZero = Number.POSITIVE_INFINITY }: Guards): number {
  const { toZero, belowZero } = planTotals(rows);
  return Math.max(0, maxZero - toZero - belowZero);
}

async function write(context: RunContext, plan: RunPlan, options: RunOptions, hooks: RunHooks): Promise<RunResult> {
  const { rows, resumed, single, stock } = plan;
  const { history, target } = context;
  const run = resumed?.open ?? (await begin(context, plan));
  const hasBegun = () => run.beginning === undefined;
  const count = rows.filter(({ result }) => result === 'planned').length;
  await hooks.onBegin?.(hasBegun() ? run.run : undefined, count);
  const execution = await execute(run, context, {
    ...{ stock, single, concurrency: options.concurrency, failFast: options.failFast },
    zerosLeft: moreZeros(rows, options.guards),
    ...(hooks.onSettled !== undefined && { onSettled: hooks.onSettled }),
  });
  await hooks.onEnd?.();
  const { stoppedBy } = execution;
  const stopped = stoppedBy === undefined ? undefined : rowErrorOf(stoppedBy);
  noteOutcomes(plan, run, execution, stopped);
  if (single !== undefined) markUnsentAsFailed(rows, run, stopped);
  const unclosed = await close(context, run, { isSingle: single !== undefined, stoppedBy });
  const cause = stoppedBy ?? unclosed;
  const id = hasBegun() ? run.run : null;
  // A run that is no longer in the history can't be resumed.
  const isLost = id !== null && cause !== undefined && (await isLostRun(history, id));
  const report = reportOf(context, plan, isLost ? null : id, false);
  const end = { report, execution, cause, target, isSingle: single !== undefined, isResumed: resumed !== undefined };
  const error = runErrorOf(end);
  return { report, execution, error: id === null ? error : error?.with({ run: id }) };
}

async function begin(context: RunContext, plan: RunPlan): Promise<OpenRun> {
  const { rows, subject, single, stock, confirmed } = plan;
  const { target, baseUrl, service, scope, user, host, pid, history } = context;
  const { unchanged, skipped, notEdited } = countRows(
    rows.filter((row) => row.result !== 'unchanged' || !isRecorded(row, confirmed)),
  );
  const head: RunHead = {
    ...subject,
    ...{ env: target.env, store: target.store, baseUrl, service, scope, user, host, pid },
    ...{ reason: commonReason(rows), unchanged, skipped, notEdited },
  };
  if (single !== undefined)
    return history.beginLater(head, plannedRows(rows, stock, { readsFirst: single.readsFirst }));
  return history.begin(head, plannedRows(rows, stock, { confirmed }), await plan.requireNotDuplicate?.());
}

/** Replaces the planned rows by their outcomes. */
function noteOutcomes(
  { rows, resumed, confirmed }: RunPlan,
  run: OpenRun,
  { unwritten, stoppedBy }: Execution,
  stopped: RowError | undefined,
): void {
  // The service has answered only the requests that were sent.
  const isAnswer = stoppedBy instanceof PetstockError && stopped?.status !== undefined;
  const unsent = isAnswer
    ? { code: stoppedBy.code, message: `not sent: ${uncapitalized(stoppedBy.message)}` }
    : stopped;
  const isResumed = resumed !== undefined;
  let number = 0;
  for (const [index, planned] of rows.entries()) {
    if (!isResumed && !isRecorded(planned, confirmed)) continue;
    const row = run.rows[number++];
    if (row === undefined) continue;
    if (isResumed || planned.result === 'planned') {
      rows[index] = rowAfter(planned, row, { isUnwritten: unwritten.has(row), stopped, unsent });
    }
  }
}

/** A single change that was not carried out is final, because it can only be resumed if its outcome is unknown. */
function markUnsentAsFailed(rows: BulkRow[], { rows: [row] }: OpenRun, stopped: RowError | undefined): void {
  const [planned] = rows;
  if (planned === undefined || row?.result !== 'pending') return;
  row.error ??= stopped;
  row.result = 'failed';
  rows[0] = { ...planned, result: 'failed', error: row.error };
}

/** Ends the work on a run. @returns the error if that fails, because the history may then lack outcomes */
async function close(
  { state, history }: RunContext,
  run: OpenRun,
  { isSingle, stoppedBy }: { readonly isSingle: boolean; readonly stoppedBy: unknown },
): Promise<unknown> {
  try {
    // What was away may have been the state: then the last outcomes are not recorded yet.
    const isAway = stoppedBy instanceof UnavailableError;
    const late = run.rows.filter((row) => !isOpen(row) && (isSingle || (isAway && row.intent !== undefined)));
    if (run.beginning === undefined && late.some(({ result }) => isAway || result === 'failed')) {
      await state.transact([], (_answers, moment) => ({ writes: settle(run, late, moment), result: undefined }));
    }
    await history.end(run);
    return undefined;
  } catch (error) {
    return error;
  }
}

function isLostRun(history: RunContext['history'], run: string): Promise<boolean> {
  return history.run(run).then(
    () => false,
    (reason) => reason instanceof NotFoundError,
  );
}

/** Pets whose row is recorded although it needs no change. */
type ConfirmedPets = Pick<ReadonlySet<bigint>, 'has'> | undefined;

/** Returns whether a row is recorded: not if nothing is to be written for it, or if its wanted stock is not known. */
function isRecorded(
  { petId, result, after }: Pick<BulkRow, 'petId' | 'result' | 'after'>,
  confirmed: ConfirmedPets,
): boolean {
  return after !== undefined && (!isIdle({ result }) || (result === 'unchanged' && confirmed?.has(petId) === true));
}

/**
 * Returns the rows of a new run, numbered from 1.
 * @param stock the stock that they were planned with, if it was read
 */
function* plannedRows(
  rows: readonly BulkRow[],
  stock: Stock | undefined,
  { confirmed, ...options }: Pick<PlannedRow, 'readsFirst'> & { readonly confirmed?: ConfirmedPets } = {},
): Generator<PlannedRow> {
  let number = 0;
  for (const { line, petId, before, after, result, error, reason, ref, ...row } of rows) {
    if (after === undefined || !isRecorded({ petId, result, after }, confirmed)) continue;
    const isSettled = ((result === 'conflict' || result === 'failed') && error !== undefined) || result === 'unchanged';
    const delta = result === 'planned' ? owedDelta(row) : undefined;
    const basis = stock === undefined ? undefined : basisOf(stock, petId);
    const outcome = isSettled ? { result, error } : undefined;
    number += 1;
    yield { row: number, line, petId, before, after, delta, basis, reason, ref, outcome, ...options };
  }
}

/**
 * Returns a planned row with its outcome.
 * @param ends.isUnwritten whether the row was sent and certainly not carried out
 * @param ends.stopped the error that ended the run, if any
 * @param ends.unsent the error of rows that were not attempted
 */
function rowAfter(
  planned: BulkRow,
  row: Row,
  ends: {
    readonly isUnwritten: boolean;
    readonly stopped: RowError | undefined;
    readonly unsent: RowError | undefined;
  },
): BulkRow {
  const { isUnwritten, stopped, unsent } = ends;
  const { line, petId, delta, expected, reason, ref } = planned;
  const { result, before, after } = row;
  const isPending = result === 'pending' || result === 'sent';
  const outcome = isPending ? (isUnwritten ? 'failed' : 'notAttempted') : result;
  const isAnswered = stopped?.status !== undefined && row.error?.status === stopped.status;
  const error = isPending && !isUnwritten && !isAnswered ? unsent : row.error;
  const quantity = result === 'differs' ? row.quantity : undefined;
  // Copied field by field: spreading so many rows takes three times the memory.
  return { line, petId, before, after, delta, expected, result: outcome, quantity, error, reason, ref };
}

function commonReason(rows: readonly BulkRow[]): string | undefined {
  const [first] = rows;
  return rows.every(({ reason }) => reason === first?.reason) ? first?.reason : undefined;
}
