import { type BulkCounts, type BulkRow, type Change, countRows } from '../inventory/change.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { planChanges } from '../inventory/plan.ts';
import { execute, type RunOptions, type RunResult } from '../runs/execute.ts';
import { planResume } from '../runs/plan-resume.ts';
import { planUndo, requireUndoable } from '../runs/plan-undo.ts';
import type { RunContext } from '../runs/run-context.ts';
import { executeSingleWrite, type SingleWrite } from '../runs/single-write.ts';
import { StockReader } from '../runs/stock-reader.ts';
import { ConflictError, FailureError, PetstockError, serviceQuotes, UsageError } from '../shared/errors.ts';
import {
  countOf,
  deltaOf,
  type PetIdInput,
  petIdOf,
  type QuantityInput,
  quantityOf,
  requireObject,
  textOf,
} from './arguments.ts';
import { requireRun } from './client-history.ts';

export interface ApplyOptions {
  /** Plans the changes, but writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Maximum number of rows that the plan may write. A larger plan is rejected with a UsageError. */
  readonly maxChanges?: number | undefined;
  /** Maximum number of stocks that the plan may set to 0 or below. A plan with more is rejected with a UsageError. */
  readonly maxZero?: number | undefined;
  /** Sends no further row after a row that did not succeed. */
  readonly failFast?: boolean | undefined;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number | undefined;
  /**
   * Stops the run after the requests in flight. The remaining rows are `notAttempted`, and `error` is an
   * InterruptedError. Before the run begins, the call rejects with the signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface RunReport {
  /** The id of the run; undefined if it is not in the history. */
  readonly run: string | undefined;
  readonly dryRun: boolean;
  /**
   * The rows with their outcomes. `line` is the number of the change, from 1; in an undo, the number of the row in the
   * run that is undone.
   */
  readonly rows: readonly BulkRow[];
  readonly counts: BulkCounts;
  /**
   * The reason why not every row succeeded; undefined if all did. If the run can be resumed, `error.hint` is the call
   * that resumes it.
   */
  readonly error: PetstockError | undefined;
}

/** A pet's item after its stock was written. */
export interface WrittenItem extends InventoryItem {
  /** The id of the run in the history; undefined without a state. */
  readonly run?: string | undefined;
  /** The stock before the write, if it was read. */
  readonly before?: number | undefined;
}

export type RunOperation = (context: RunContext, options: RunOptions) => Promise<RunResult>;

/** @throws UsageError if the changes themselves are invalid; the operation throws it if they don't fit the stock */
export function applyChanges(inputs: Iterable<ChangeInput>): RunOperation {
  const changes = readChanges(inputs);
  return async (context, options) => {
    const stock = await new StockReader(context).readAfterInFlight(new Set(changes.map(({ petId }) => petId)));
    const { rows, problems } = planChanges(changes, stock.quantities, { env: context.target.env });
    if (problems.length > 0) {
      const lines = problems.map(({ line, message }) => `change ${line}: ${message}`);
      throw new UsageError(`Invalid changes: ${lines[0]}. Nothing was written`, { lines });
    }
    const hasDeltas = changes.some(({ delta }) => delta !== undefined);
    return execute(context, { subject: { command: 'inventory apply', hasDeltas }, rows, stock }, options);
  };
}

/**
 * Returns an operation that undoes a run. The operation throws the errors of `requireRun`, UsageError if nothing can be
 * undone, and ConflictError if the run is still running.
 */
export function undoRun(text: string): RunOperation {
  return async (context, options) => {
    const run = await requireRun(context, text);
    if (run.state === 'running') throw new ConflictError(`Run ${run.run} is still running. Nothing was sent`);
    return execute(context, await planUndo(context, run, await requireUndoable(context.state, run)), options);
  };
}

/**
 * Returns an operation that resumes a run. The operation throws the errors of `requireRun`. Unless it is a dry run, it
 * throws ConflictError if a process is writing the run or the run was discarded.
 */
export function resumeRun(text: string): RunOperation {
  return async (context, options) => {
    const run = await requireRun(context, text);
    const log = options.dryRun ? undefined : await context.state.history.resume(run.run);
    try {
      return await execute(context, await planResume(context, run, log), options);
    } finally {
      // An error here must not replace the result or the error of the run.
      await log?.end().catch(() => {});
    }
  };
}

/** Changes the stock of one pet, as a run of its own. */
export async function writeSingle(context: RunContext, write: SingleWrite): Promise<WrittenItem> {
  const { petId } = write;
  let item: InventoryItem | undefined;
  const { report, error } = await executeSingleWrite(context, write, {
    onItem: (seen) => {
      if (seen.petId === petId) item = seen;
    },
  });
  if (error !== undefined) throw error;
  const [row] = report.rows;
  if (item === undefined || row === undefined)
    throw new FailureError(`The stock of pet ${petId} was written, but the service returned no item`);
  const { before, after = item.quantity } = row;
  return { ...item, quantity: after, run: report.run ?? undefined, ...(before !== undefined && { before }) };
}

export function runReport({ report, error }: RunResult): RunReport {
  const { run, dryRun, rows, uncounted } = report;
  const counts = countRows(rows, uncounted);
  return { run: run ?? undefined, dryRun, rows, counts, error: error && forProgram(error) };
}

/**
 * Returns an error for programs: its message contains what the service said, and its hint is the library call that
 * resumes the run, if there is one.
 */
export function forProgram(error: PetstockError): PetstockError {
  const isResumable = error.hint?.includes('--resume') === true && error.run !== undefined;
  const message = [error.message, ...serviceQuotes(error)].join(': ');
  return error.with({ message, hint: isResumable ? `client.resume('${error.run}')` : undefined });
}

/** @throws UsageError if an option is invalid */
export function runOptions({ dryRun = false, failFast = false, ...options }: ApplyOptions): RunOptions {
  const maxChanges = countOf(options.maxChanges, 'maxChanges');
  const maxZero = countOf(options.maxZero, 'maxZero');
  const concurrency = countOf(options.concurrency, 'concurrency', 1) ?? 4;
  return { dryRun, failFast, concurrency, guards: { maxChanges, maxZero } };
}

/** One change of stock. It has exactly one of `quantity` and `delta`. */
export interface ChangeInput {
  readonly petId: PetIdInput;
  /** The new stock. */
  readonly quantity?: QuantityInput | undefined;
  /** The number to add to the stock. */
  readonly delta?: QuantityInput | undefined;
  /**
   * The stock that this change is based on (a precondition). If the current stock differs, the row is a conflict and
   * nothing is written.
   */
  readonly expected?: QuantityInput | undefined;
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
}

/** @throws UsageError if `inputs` is not iterable; otherwise one that lists the invalid changes by number, from 1 */
export function readChanges(inputs: Iterable<ChangeInput>): readonly Change[] {
  if (
    typeof inputs === 'string' ||
    typeof (inputs as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== 'function'
  ) {
    throw new UsageError('changes must be an array or another iterable');
  }
  const changes: Change[] = [];
  const problems: string[] = [];
  const lineOf = new Map<bigint, number>();
  let line = 0;
  for (const input of inputs) {
    line += 1;
    try {
      const change = readChange(input, line);
      const first = lineOf.get(change.petId);
      if (first === undefined) lineOf.set(change.petId, line);
      else problems.push(`change ${line}: pet ${change.petId} is already in change ${first}`);
      changes.push(change);
    } catch (error) {
      if (!(error instanceof PetstockError)) throw error;
      problems.push(`change ${line}: ${error.message}`);
    }
  }
  if (problems.length === 0) return changes;
  throw new UsageError(`Invalid changes: ${problems[0]}. Nothing was sent`, { lines: problems });
}

function readChange(input: ChangeInput, line: number): Change {
  requireObject(input, 'a change');
  const { quantity, delta, expected } = input;
  if ((quantity === undefined) === (delta === undefined)) {
    throw new UsageError('it must have either quantity or delta');
  }
  return {
    line,
    petId: petIdOf(input.petId),
    quantity: quantity === undefined ? undefined : quantityOf(quantity),
    delta: delta === undefined ? undefined : deltaOf(delta),
    expected: expected === undefined ? undefined : quantityOf(expected, 'expected'),
    reason: textOf(input.reason, 'reason'),
    ref: textOf(input.ref, 'ref'),
  };
}
