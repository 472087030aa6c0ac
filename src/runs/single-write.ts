import type { BulkRow } from '../inventory/change.ts';
import { addDelta, outdatedText, unreadableText } from '../inventory/items.ts';
import { ConflictError, FailureError, NotFoundError, UsageError } from '../shared/errors.ts';
import { petstock, targetWords } from '../shared/hint.ts';
import { capitalized } from '../shared/parsed.ts';
import type { Target } from '../shared/target.ts';
import type { StockSnapshot } from '../writes/row-write.ts';
import { execute, type RunHooks, type RunOptions, type RunResult } from './execute.ts';
import type { RunContext } from './run-context.ts';

/** A change to the stock of one pet, without a preview. */
export interface SingleWrite {
  /** The command to record in the history, like `inventory set`. */
  readonly command: string;
  readonly petId: bigint;
  /** The wanted stock. A write has either this or `delta`. */
  readonly quantity?: number | undefined;
  readonly delta?: number | undefined;
  /** The expected stock; undefined if the write does not depend on one. */
  readonly expected?: number | undefined;
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
}

export interface SingleWriteHooks extends RunHooks {
  /** Reports whether a row needs confirmation. The row has no `before` if the stock is not read. */
  asks?(row: BulkRow): boolean;
  /** Asks for confirmation; throws if it is denied. */
  ask?(row: BulkRow): Promise<void>;
}

const options: RunOptions = {
  dryRun: false,
  failFast: false,
  concurrency: 1,
  guards: { maxChanges: undefined, maxZero: undefined },
};

/** Reports whether a write depends on the stock, so that the stock must be read first. */
export function dependsOnStock({ delta, expected }: SingleWrite): boolean {
  return delta !== undefined || expected !== undefined;
}

/**
 * Changes the stock of one pet, as a run of its own. The pet is not locked while the user is asked. A stock that was
 * read is then read again, and if it has changed, the user is asked again.
 */
export async function executeSingleWrite(
  context: RunContext,
  write: SingleWrite,
  { readsFirst, ...hooks }: SingleWriteHooks & { readonly readsFirst?: boolean },
): Promise<RunResult> {
  const subject = { command: write.command };
  if (!readsFirst && !dependsOnStock(write)) {
    const row = rowOf(write, undefined, write.quantity ?? 0);
    if (hooks.asks?.(row)) await hooks.ask?.(row);
    return execute(context, { subject, rows: [row], stock: undefined, single: {} }, options, hooks);
  }
  // Loaded late, because a plain set doesn't need it.
  const { readModifyWrite } = await import('./read-modify-write.ts');
  for (let agreed: number | undefined; ; ) {
    let asked: BulkRow | undefined;
    const planOf = (stock: StockSnapshot) => {
      const row = rowOn(context.target, write, stock);
      const asks = hooks.asks?.(row) === true && agreed !== row.before;
      asked = asks ? row : undefined;
      return asks ? undefined : { subject, rows: [row] };
    };
    const end = await readModifyWrite(context, write.petId, planOf, options, hooks);
    if (end !== undefined) return end;
    if (asked === undefined) throw new Error('a plan was neither carried out nor asked about');
    await hooks.ask?.(asked);
    agreed = asked.before;
  }
}

/** @throws NotFoundError, FailureError, ConflictError or UsageError if the write can't be based on this stock */
function rowOn(target: Target, write: SingleWrite, { quantities }: StockSnapshot): BulkRow {
  const { petId, quantity, delta, expected } = write;
  const found = quantities.get(petId);
  const unreadable = quantities.unreadable?.get(petId);
  const outdated = quantities.outdated?.get(petId);
  if (unreadable !== undefined) {
    const message = `${capitalized(unreadableText(unreadable))}. Nothing was written`;
    throw new FailureError(message, { hint: petstock`api GET /inventory ${targetWords(target)}` });
  }
  const hint = petstock`inventory get ${petId} ${targetWords(target)}`;
  if (outdated !== undefined) {
    throw new ConflictError(`Pet ${petId}: ${outdatedText(outdated)}. Nothing was written`, { hint });
  }
  if (found === undefined) throw new NotFoundError(`There is no pet ${petId}. Nothing was written`);
  if (expected !== undefined && found !== expected) {
    throw new ConflictError(`The stock of pet ${petId} is ${found}, not ${expected}. Nothing was written`, { hint });
  }
  const sum = delta === undefined ? undefined : addDelta(found, delta);
  if (sum?.ok === false) {
    throw new UsageError(`${capitalized(sum.problem)}. Nothing was written`);
  }
  return rowOf(write, found, sum?.value ?? quantity ?? found);
}

function rowOf(
  { petId, delta, expected, reason, ref }: SingleWrite,
  before: number | undefined,
  after: number,
): BulkRow {
  return { line: 1, petId, before, after, delta, expected, result: 'planned', reason, ref };
}
