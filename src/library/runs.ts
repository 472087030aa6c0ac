import { type BulkCounts, type BulkRow, type Change, countRows } from '../inventory/change.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { planChanges } from '../inventory/plan.ts';
import { execute, type RunOptions, type RunResult } from '../runs/execute.ts';
import { planResume } from '../runs/plan-resume.ts';
import { planUndo, requireUndoable } from '../runs/plan-undo.ts';
import type { RunContext } from '../runs/run-context.ts';
import { executeSingleWrite, type SingleWrite } from '../runs/single-write.ts';
import { StockReader } from '../runs/stock-reader.ts';
import { ConflictError, FailureError, PetstockError, UsageError } from '../shared/errors.ts';
import {
  countOf,
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
  /** Reject the whole plan if it writes more rows, or sets more stocks to 0 or below. */
  readonly maxChanges?: number | undefined;
  readonly maxZero?: number | undefined;
  /** Send no further row after one that was not applied. */
  readonly failFast?: boolean | undefined;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number | undefined;
  /** Stops the run after the requests in flight; the remaining rows are `notAttempted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a run. */
export interface RunReport {
  /** Its id in the history; undefined if there was nothing to write. */
  readonly run: string | undefined;
  readonly dryRun: boolean;
  /** `line` counts the changes from 1; in an undo it is the row of the run. */
  readonly rows: readonly BulkRow[];
  readonly counts: BulkCounts;
  /** The reason not every row succeeded; undefined if all did. To continue, call `client.resume(error.run)`. */
  readonly error: PetstockError | undefined;
}

/** A pet that was written. */
export interface WrittenItem extends InventoryItem {
  /** The run in the history; undefined without a state. */
  readonly run?: string | undefined;
  /** The stock before, if it was read. */
  readonly before?: number | undefined;
}

/** An operation of the client that writes at a service. */
export type RunOperation = (context: RunContext, options: RunOptions) => Promise<RunResult>;

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

/** Throws UsageError if there is nothing to undo, NotFoundError, or ConflictError if the run is still running. */
export function undoRun(text: string): RunOperation {
  return async (context, options) => {
    const run = await requireRun(context, text);
    if (run.state === 'running') throw new ConflictError(`Run ${run.run} is still running. Nothing was sent`);
    return execute(context, await planUndo(context, run, await requireUndoable(context.state, run)), options);
  };
}

/** Throws NotFoundError, or ConflictError if another process is writing the run. */
export function resumeRun(text: string): RunOperation {
  return async (context, options) => {
    const run = await requireRun(context, text);
    const log = options.dryRun ? undefined : await context.state.history.resume(run.run);
    try {
      return await execute(context, await planResume(context, run, log), options);
    } finally {
      // The error of the run already describes what failed.
      await log?.end().catch(() => {});
    }
  };
}

/** Writes one pet as a run of its own. */
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
    throw new FailureError(`Pet ${petId} was written, but the service returned no item`);
  return { ...item, run: report.run ?? undefined, ...(row.before !== undefined && { before: row.before }) };
}

export function runReport({ report, error }: RunResult): RunReport {
  const { run, dryRun, rows, uncounted } = report;
  const counts = countRows(rows, uncounted);
  return { run: run ?? undefined, dryRun, rows, counts, error: error && withoutCommand(error) };
}

/** Replaces the command-line hint by the library call that resumes the run, or drops it. */
export function withoutCommand(error: PetstockError): PetstockError {
  const isResumable = error.hint?.includes('--resume') === true && error.run !== undefined;
  return error.with({ hint: isResumable ? `client.resume('${error.run}')` : undefined });
}

/** @throws UsageError for invalid options */
export function runOptions({ dryRun = false, failFast = false, ...options }: ApplyOptions): RunOptions {
  const maxChanges = countOf(options.maxChanges, 'maxChanges');
  const maxZero = countOf(options.maxZero, 'maxZero');
  const concurrency = countOf(options.concurrency, 'concurrency', 1) ?? 4;
  return { dryRun, failFast, concurrency, guards: { maxChanges, maxZero } };
}

/** One change of stock: `quantity` or `delta`. */
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

/**
 * Converts the changes that a program gives.
 * @throws UsageError with every error, by the number of its change (from 1)
 */
export function readChanges(inputs: Iterable<ChangeInput>): readonly Change[] {
  if (
    typeof inputs === 'string' ||
    typeof (inputs as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== 'function'
  ) {
    throw new UsageError('changes must be an array or another iterable');
  }
  const changes: Change[] = [];
  const faults: string[] = [];
  const lineOf = new Map<bigint, number>();
  let line = 0;
  for (const input of inputs) {
    line += 1;
    try {
      const change = readChange(input, line);
      const first = lineOf.get(change.petId);
      if (first === undefined) lineOf.set(change.petId, line);
      else faults.push(`change ${line}: pet ${change.petId} is already in change ${first}`);
      changes.push(change);
    } catch (error) {
      if (!(error instanceof PetstockError)) throw error;
      faults.push(`change ${line}: ${error.message}`);
    }
  }
  if (faults.length === 0) return changes;
  throw new UsageError(`Invalid changes: ${faults[0]}. Nothing was sent`, { lines: faults });
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
    delta: delta === undefined ? undefined : quantityOf(delta, 'delta'),
    expected: expected === undefined ? undefined : quantityOf(expected, 'expected'),
    reason: textOf(input.reason, 'reason'),
    ref: textOf(input.ref, 'ref'),
  };
}
