import type { BulkRow, Change, RowError, RowResult } from './change.ts';
import { addDelta, counted, grouped, type Quantities, unreadableText } from './items.ts';

/** A row for which the whole file is rejected. */
export interface PlanProblem {
  readonly line: number;
  /** A clause for a shop assistant, without the line and without a period. */
  readonly message: string;
  /** The pet of the row, if the service does not have it. */
  readonly absent?: bigint | undefined;
}

/** The error code of a row whose pet has an unreadable stock. */
export const unreadableStock = 'unreadable_stock';

/** The plan of all changes; each becomes a row or a problem. */
export interface Plan {
  /** The rows in the order of the changes. */
  readonly rows: BulkRow[];
  readonly problems: readonly PlanProblem[];
}

export interface PlanOptions {
  /** Whether to leave out pets that the service does not have; otherwise they are problems. */
  readonly skipUnknown?: boolean;
  /** Pets to leave out, because their deltas were already applied. */
  readonly skipped?: ReadonlySet<bigint>;
  readonly env: string;
}

type Stock = Pick<Quantities, 'get' | 'unreadable'>;

/**
 * Plans each change, given the stock that was read. A delta is added to that stock. Unless the change expects a stock,
 * the sum is computed again right before the row is written.
 *
 * - The quantity equals the expected one: `notEdited`, whatever the stock is.
 * - The pet is to be left out: `skipped`, whatever its stock is.
 * - The stock is unreadable: `failed`, whatever is wanted.
 * - The pet does not exist: a problem, or `skipped`, even if the row is blank, because the id may be mistyped.
 * - The row is blank: `unchanged`, whatever stock it expects, because nothing would be written.
 * - The stock is not the expected one: `conflict`, even if it already has the wanted value.
 * - The sum is out of range: a problem.
 * - The stock already has the wanted value: `unchanged`.
 */
export function planChanges(changes: Iterable<Change>, stock: Stock, options: PlanOptions): Plan {
  const rows: BulkRow[] = [];
  const problems: PlanProblem[] = [];
  for (const change of changes) {
    const planned = planChange(change, stock, options);
    if (typeof planned !== 'string') rows.push(planned);
    else {
      const absent = stock.get(change.petId) === undefined ? change.petId : undefined;
      problems.push({ line: change.line, message: planned, absent });
    }
  }
  return { rows, problems };
}

/** Returns the row, or why the file is rejected. */
function planChange(change: Change, quantities: Stock, options: PlanOptions): BulkRow | string {
  const { petId, quantity, delta, expected } = change;
  const stock = quantities.get(petId);
  if (quantity !== undefined && quantity === expected) return rowOf(change, stock, stock, 'notEdited');
  if (options.skipped?.has(petId)) return rowOf(change, stock, stock, 'skipped');
  const unreadable = quantities.unreadable?.get(petId);
  if (unreadable !== undefined) {
    const error = { code: unreadableStock, message: unreadableText(petId, unreadable) };
    return rowOf(change, undefined, quantity, 'failed', error);
  }
  if (stock === undefined) {
    return options.skipUnknown
      ? rowOf(change, undefined, quantity, 'skipped')
      : `there is no pet ${petId} in ${options.env}`;
  }
  if (quantity === undefined && delta === undefined) return rowOf(change, stock, stock, 'unchanged');
  if (expected !== undefined && expected !== stock) {
    const message = `the stock is ${stock}, not ${expected}`;
    // The sum that the user had in mind, based on the expected stock.
    const sum = delta === undefined ? undefined : addDelta(expected, delta);
    const wanted = sum?.ok ? sum.value : quantity;
    return rowOf(change, stock, wanted, 'conflict', { code: 'conflict', message });
  }
  const target = delta === undefined ? { ok: true as const, value: quantity ?? stock } : addDelta(stock, delta);
  if (!target.ok) return target.problem;
  return rowOf(change, stock, target.value, target.value === stock ? 'unchanged' : 'planned');
}

/** Creates a row. There is only one literal, so that all rows share their shape in memory. */
function rowOf(
  { line, petId, delta, expected, reason, ref }: Change,
  before: number | undefined,
  after: number | undefined,
  result: RowResult,
  error?: RowError,
): BulkRow {
  return { line, petId, before, after, delta, expected, result, quantity: undefined, error, reason, ref };
}

/** The limits of a plan; each is undefined if it was not set. */
export interface Guards {
  /** Maximum number of rows to be written. */
  readonly maxChanges: number | undefined;
  /** Maximum number of rows that set a stock of 0 or below. */
  readonly maxZero: number | undefined;
}

/** Returns why the plan as a whole is rejected, as clauses without a period; empty if it is accepted. */
export function guardProblems(
  { rows }: { readonly rows: Iterable<BulkRow> },
  { maxChanges, maxZero }: Guards,
): readonly string[] {
  const { changes, toZero, belowZero } = planTotals(rows);
  const problems: string[] = [];
  if (maxChanges !== undefined && changes > maxChanges) {
    problems.push(`${counted(changes, 'row')} would be changed, but max-changes allows ${grouped(maxChanges)}`);
  }
  const emptied = toZero + belowZero;
  if (maxZero !== undefined && emptied > maxZero) {
    const where = belowZero === 0 ? 'to 0' : `to 0 or below (${grouped(belowZero)} below)`;
    problems.push(`${counted(emptied, 'pet')} would go ${where}, but max-zero allows ${grouped(maxZero)}`);
  }
  return problems;
}

export interface PlanTotals {
  /** Number of rows that are planned. */
  readonly changes: number;
  /** Numbers of units that these rows add and remove; never negative. Rows without a known stock don't count. */
  readonly added: bigint;
  readonly removed: bigint;
  /** How many of these rows set a stock to 0, and how many set it below 0. */
  readonly toZero: number;
  readonly belowZero: number;
}

export function planTotals(rows: Iterable<BulkRow>): PlanTotals {
  let [changes, toZero, belowZero, added, removed] = [0, 0, 0, 0n, 0n];
  for (const { result, before, after } of rows) {
    if (result !== 'planned') continue;
    changes += 1;
    if (after === 0) toZero += 1;
    else if (after !== undefined && after < 0) belowZero += 1;
    if (before === undefined || after === undefined) continue;
    // The difference of two safe integers may not be a safe integer.
    const difference = BigInt(after) - BigInt(before);
    if (difference > 0n) added += difference;
    else removed -= difference;
  }
  return { changes, added, removed, toZero, belowZero };
}
