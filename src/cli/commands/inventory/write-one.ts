import type { BulkReport, BulkRow, Change } from '../../../inventory/change.ts';
import { grouped, type InventoryItem, isAbsent, mayBeBarCode } from '../../../inventory/items.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { inventoryItemView } from '../../../output/inventory-view.ts';
import { TimeBudget } from '../../../shared/clock.ts';
import { ClosedPipeError, NotFoundError, type PetstockError, UsageError } from '../../../shared/errors.ts';
import { commandLine, petstock, targetName } from '../../../shared/hint.ts';
import type { RunResult } from '../../../writes/carry-out.ts';
import { readStockToPlan, type Stock } from '../../../writes/stock.ts';
import type { WriteConnection } from '../../invocation/connect.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { performPlan, warnBelowZero } from '../../runs/perform.ts';
import { unshownError } from '../../runs/print-report.ts';
import { noteUndoOf } from '../../runs/run-access.ts';
import { parseBulkFlags } from '../option-values.ts';
import { noSuchPets, warnOfStatus } from './find-pets.ts';

export interface WriteOptions {
  /** Whether the stock is read before it is written. */
  readonly readsStock: boolean;
  /** A fact for the question, if the same delta was written before under the same ref. */
  readonly earlier: string | undefined;
  readonly dryRun: boolean;
}

/**
 * On a terminal, a change of this many units or more needs confirmation if the stock was read, because a bar code is
 * easily scanned in place of a quantity.
 */
const largeJump = 1000;

/**
 * Writes the stock of one pet, as a run of one row, and shows the item that the service returned. The stock is read in
 * the turn; before it for a dry run, and on a terminal, where a question may need it.
 */
export async function writeOne(
  invocation: Invocation,
  command: string,
  change: Change,
  { readsStock, earlier, dryRun }: WriteOptions,
): Promise<void> {
  const { config, questions, messages, context } = invocation;
  const connection = await invocation.connections.connect({ writes: true });
  const { petId, expected, delta } = change;
  if (!dryRun && config.settings.confirm === 'always') questions.requireAnswer({});
  const time = new TimeBudget(context.clock, 2 * connection.timeout);
  const mayAsk = !dryRun && questions.willAsk();
  const readsNow = dryRun || (mayAsk && readsStock);
  const stock = readsNow ? await readStockToPlan(connection, new Set([petId]), { time }) : undefined;
  const needsKnown = !readsStock && (mayAsk || !messages.isQuiet);
  const known = needsKnown ? await lastKnown(connection, petId) : undefined;
  const found = stock?.quantities.get(petId);
  const shown = plannedRow(change, expected ?? found);
  // A change that is not possible is refused in the turn.
  const isPossible = readsNow ? found !== undefined && shown.before === found : true;
  const isAsked = mayAsk && isPossible && (await isConfirmed(invocation, shown, { known, earlier }));
  // A quantity that was not asked about is set whatever the stock is then.
  const row = isAsked || delta !== undefined ? shown : plannedRow(change, expected);
  let item: InventoryItem | undefined;
  const onItem = (each: InventoryItem) => {
    if (each.petId === petId) item = each;
  };
  const isUndoable = readsStock || known !== undefined;
  const plan = {
    subject: { command },
    rows: [stock !== undefined && dryRun ? previewOf(invocation, change, stock) : row],
    // While the question was open, others may have changed it.
    stock: isAsked ? undefined : stock,
    single: { readsFirst: readsStock, time, onItem },
    showOutcome: (end: RunResult) => showWritten(invocation, command, end, { item, isUndoable }),
  };
  // The limits of the settings are for plans of many rows.
  const guards = { maxChanges: undefined, maxZero: undefined };
  await performPlan({ invocation, connection }, plan, { ...parseBulkFlags(invocation, { dryRun }), guards });
}

/** @param before the stock that the change relies on */
function plannedRow({ quantity, delta = 0, ...change }: Change, before: number | undefined): BulkRow {
  const after = quantity ?? (before ?? 0) + delta;
  return { ...change, delta: quantity === undefined ? delta : undefined, before, after, result: 'planned' };
}

/**
 * Returns what a dry run shows.
 * @throws NotFoundError for a pet that the service does not have, UsageError for a change that is not possible
 */
function previewOf(invocation: Invocation, change: Change, { quantities }: Stock): BulkRow {
  const { petId } = change;
  if (isAbsent(quantities, petId)) throw noSuchPets(invocation, [petId]);
  const { rows, problems } = planChanges([change], quantities, { env: targetName(invocation.target) });
  const [row] = rows;
  if (row !== undefined) return row;
  throw new UsageError(`Pet ${petId}: ${problems[0]?.message}. Nothing was written`);
}

/**
 * Returns the last stock of a pet in the history, read or written; undefined if there is none, or if it is uncertain.
 */
async function lastKnown({ history, service }: WriteConnection, petId: bigint): Promise<number | undefined> {
  return (await history.lastKnown(service, [{ petId }])).get(petId);
}

/**
 * Asks for confirmation if the setting `confirm` is `always`, the delta was written before under its ref, the stock goes
 * below zero, or the change is large.
 * @returns whether a question was asked
 * @throws UsageError if it was denied
 */
async function isConfirmed(
  invocation: Invocation,
  row: BulkRow,
  { known, earlier }: { readonly known: number | undefined; readonly earlier: string | undefined },
): Promise<boolean> {
  const { config, questions, target } = invocation;
  const { before, after = 0 } = row;
  const isLarge = before !== undefined && Math.abs(after - before) >= largeJump;
  const isUnusual = config.settings.confirm === 'always' || earlier !== undefined || isLarge || goesBelow(row);
  if (!isUnusual) return false;
  const facts = [...(isLarge ? ['a large change'] : []), ...(earlier === undefined ? [] : [earlier])];
  if (known !== undefined) facts.push('according to the history');
  const { names } = await invocation.remarks('person');
  const { planQuestion } = await import('../../../output/preview.ts');
  await questions.confirm(planQuestion([{ ...row, before: before ?? known }], target, { verb: 'Write', facts }, names));
  return true;
}

function goesBelow({ before, after = 0 }: BulkRow): boolean {
  return after < 0 && (before === undefined || after < before);
}

/**
 * Shows the item that the service returned, and how to undo the change.
 * @param shown.isUndoable whether the stock before the change is known
 * @throws the error that the run ends with
 */
async function showWritten(
  invocation: Invocation,
  command: string,
  end: RunResult,
  { item, isUndoable }: { readonly item: InventoryItem | undefined; readonly isUndoable: boolean },
): Promise<void> {
  const { context, messages, questions } = invocation;
  const [row] = end.report.rows;
  const { run } = end.report;
  if (row === undefined) return;
  const { result, before, after } = row;
  const error = end.error && reworded(invocation, command, row, end, end.error);
  const isWritten = result === 'applied' || result === 'differs';
  if ((isWritten || result === 'unknown') && goesBelow(row) && !questions.willAsk()) {
    await warnBelowZero(invocation, [row]);
  }
  if (item !== undefined && (isWritten || result === 'unchanged')) await printItem(invocation, end.report, item, error);
  if ((result === 'applied' || result === 'unchanged') && before !== undefined && before === after) {
    await messages.note(`Nothing changed: the stock was already ${grouped(before)}.`);
  } else if (isWritten && !isUndoable) {
    await messages.note("This can't be undone: the previous stock was not read. Use --read-first next time.");
  } else if ((isWritten || result === 'unknown') && context.stderr.isTerminal && run !== null) {
    await noteUndoOf(invocation, run);
  }
  if (error !== undefined) throw error;
}

/**
 * Prints an item with the stock that was written. If that fails, the error says that the stock was written, so that a
 * script does not write it again.
 */
async function printItem(
  invocation: Invocation,
  report: BulkReport,
  item: InventoryItem,
  error: PetstockError | undefined,
): Promise<void> {
  const { results, target } = invocation;
  const {
    rows: [row],
    run,
  } = report;
  if (row === undefined) return;
  await warnOfStatus(invocation, item);
  const remarks = await invocation.remarks();
  // After a lost response the item was read, and may have a later stock.
  const shown = row.result === 'differs' ? item : { ...item, quantity: row.after ?? item.quantity };
  const view = inventoryItemView(shown, { ...remarks, before: row.before, run: run ?? undefined });
  await results.print(view, { ignoreInterrupt: true }).catch((cause) => {
    if (cause instanceof ClosedPipeError || error !== undefined) throw error ?? cause;
    const was = row.result === 'unchanged' ? 'needed no change' : `was set to ${row.after}`;
    const what = `The stock of pet ${row.petId} in ${targetName(target)} ${was}`;
    throw unshownError(`${what}, but that could not be shown`, report, cause);
  });
}

/** Rewords the error of a change whose pet does not exist, and hints at the command to try again. */
function reworded(
  invocation: Invocation,
  command: string,
  { petId, before, after, delta, result }: BulkRow,
  { execution }: RunResult,
  error: PetstockError,
): PetstockError {
  // If neither the stock before is known nor what became of the write, a resume could not decide. The same `set` can.
  const isSeen = execution?.quantities?.has(petId) === true;
  if (result === 'unknown' && before === undefined && delta === undefined && isSeen) {
    const words = [...command.split(' '), `${petId}`, `${after}`];
    return error.with({ hint: petstock`${commandLine(invocation, words, { code: undefined })}` });
  }
  // A 404 without an Error body may be about the address, and one for the list reveals nothing about the pet.
  const isOfPet =
    error.status === undefined || (execution?.rejection !== undefined && error.serviceError !== undefined);
  if (!(error instanceof NotFoundError) || !isOfPet) return error;
  const { message, hint } = noSuchPets(invocation, [petId]);
  const coded = [...command.split(' '), '--code', `${petId}`, `${delta ?? after}`];
  return error.with({
    message,
    hint: mayBeBarCode(petId) ? petstock`${commandLine(invocation, coded)}` : hint,
    isReworded: true,
  });
}
