import type { BulkRow } from '../inventory/change.ts';
import { unreadableStock } from '../inventory/plan.ts';
import { ConflictError, FailureError, NotFoundError, type PetstockError, UsageError } from '../shared/errors.ts';
import { petstock, targetWords } from '../shared/hint.ts';
import { capitalized } from '../shared/parsed.ts';
import { carryOut, type RunContext, type RunHooks, type RunOptions, type RunResult } from './carry-out.ts';
import { noSuchPet, outOfRange } from './rows.ts';

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
 * Changes the stock of one pet, as a run of its own. Nothing is held while the user is asked. The stock is then read
 * again, and if it has changed, the user is asked again.
 */
export async function writeOne(
  context: RunContext,
  write: SingleWrite,
  { readsFirst = false, asks, ask, ...hooks }: SingleWriteHooks & { readonly readsFirst?: boolean },
): Promise<RunResult> {
  for (let agreed: Pick<BulkRow, 'before' | 'after'> | undefined; ; ) {
    let asked: BulkRow | undefined;
    const planned = plannedRow(write);
    const approve = (before: number | undefined, after: number) => {
      const row = { ...planned, before, after };
      const isAgreed = agreed !== undefined && agreed.before === before && agreed.after === after;
      asked = isAgreed || asks?.(row) !== true ? undefined : row;
      return asked === undefined;
    };
    const single = { readsFirst: readsFirst || write.expected !== undefined, approve };
    const plan = { subject: { command: write.command }, rows: [planned], stock: undefined, single };
    const end = await carryOut(context, plan, options, hooks);
    if (asked === undefined) return { ...end, error: end.error && reworded(end, write, context) };
    await ask?.(asked);
    agreed = asked;
  }
}

/** With a delta and an expected stock, their sum is wanted. */
function plannedRow({ petId, quantity, delta, expected, reason, ref }: SingleWrite): BulkRow {
  const after = quantity ?? (expected ?? 0) + (delta ?? 0);
  return { line: 1, petId, before: expected, after, delta, expected, result: 'planned', reason, ref };
}

/** Returns the error of a change that the stock did not allow, in words about its pet. */
function reworded({ report, error }: RunResult, write: SingleWrite, { target }: RunContext): PetstockError | undefined {
  const [row] = report.rows;
  if (row?.result !== 'conflict' || row.error === undefined || error === undefined) return error;
  const { petId } = write;
  const { code, message } = row.error;
  const words = `${capitalized(message)}. Nothing was written`;
  if (code === noSuchPet) return new NotFoundError(`There is no pet ${petId}. Nothing was written`);
  if (code === outOfRange) return new UsageError(words);
  if (code === unreadableStock) {
    return new FailureError(words, { hint: petstock`api GET /inventory ${targetWords(target)}` });
  }
  if (code !== 'conflict') return error;
  const hint = petstock`inventory get ${petId} ${targetWords(target)}`;
  const { expected } = write;
  const found = message.startsWith('the stock is ') && expected !== undefined;
  return new ConflictError(found ? words.replace('The stock is', `The stock of pet ${petId} is`) : words, { hint });
}
