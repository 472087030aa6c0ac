import { RoundedIds } from '../../change-files/rounded-ids.ts';
import type { BulkRow } from '../../inventory/change.ts';
import { grouped, type InventoryItem, mayBeBarCode } from '../../inventory/items.ts';
import { inventoryItemView } from '../../output/inventory-view.ts';
import { ClosedPipeError, NotFoundError, type PetstockError } from '../../shared/errors.ts';
import { commandLine, petstock, targetName, targetWords } from '../../shared/hint.ts';
import type { RunResult } from '../../writes/carry-out.ts';
import { dependsOnStock, type SingleWrite, type SingleWriteHooks, writeOne } from '../../writes/single-write.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { unshownError } from './print-report.ts';
import { noteUndoOf, type RunAccess } from './run-access.ts';

export interface SingleOptions {
  /** Whether to read the stock first. With a delta or an expected stock, it is read anyway. */
  readonly readsFirst: boolean;
  /** A fact for the question, if the same delta was written before under the same ref. */
  readonly earlier: string | undefined;
  /** Called with the item before it is shown. */
  check(item: InventoryItem): Promise<void>;
}

/**
 * On a terminal, a change of this many units or more needs confirmation if the stock was read, because a bar code is
 * easily scanned in place of a quantity.
 */
const largeJump = 1000;

/** Writes the stock of one pet as a run of its own, and shows the item that the service returned. */
export async function writeSingle(invocation: Invocation, write: SingleWrite, options: SingleOptions): Promise<void> {
  const access = { invocation, connection: await invocation.connections.connect({ writes: true }) };
  if (invocation.config.settings.confirm === 'always') invocation.questions.requireAnswer({});
  let seen: InventoryItem | undefined;
  const { readsFirst } = options;
  const { isQuiet } = invocation.messages;
  // Only a note depends on what the history knows.
  const isUndoable =
    readsFirst || dependsOnStock(write) || isQuiet || (await knownBefore(access, write.petId)) !== undefined;
  const end = await writeOne(access.connection, write, {
    ...singleWriteHooks(access, options.earlier),
    readsFirst,
    onItem: (item) => {
      if (item.petId === write.petId) seen = item;
    },
  });
  // A 404 for the list reveals nothing about the pet.
  const isOfPet = end.execution?.rejection !== undefined || end.error?.status === undefined;
  const reworded = end.error && (isOfPet ? rewordNoPet(invocation, write, end.error) : end.error);
  const error = reworded && withSameSet(invocation, write, end, reworded);
  await printItem(invocation, end, seen, options, error);
  const [row] = end.report.rows;
  const isWritten = row !== undefined && ['applied', 'differs', 'unknown'].includes(row.result);
  const hasAnswer = row?.result === 'applied' || row?.result === 'unchanged';
  if (hasAnswer && row.before !== undefined && row.before === row.after) {
    await invocation.messages.note(`Nothing changed: the stock was already ${grouped(row.before)}.`);
  } else if (isWritten && !isUndoable && row.result !== 'unknown') {
    await invocation.messages.note(
      "This can't be undone: the previous stock was not read. Use --read-first next time.",
    );
  } else if (isWritten && invocation.context.stderr.isTerminal && end.report.run !== null) {
    await noteUndoOf(invocation, end.report.run);
  }
  if (error !== undefined) throw error;
}

/**
 * Creates hooks that, on a terminal, ask for confirmation if the setting `confirm` is `always`, the delta was written
 * before under its ref, the stock goes below zero, or the change is large. Elsewhere they only warn of a stock below zero.
 */
function singleWriteHooks(access: RunAccess, earlier: string | undefined): SingleWriteHooks {
  const { context, messages, questions, config, target } = access.invocation;
  const { interrupted } = context;
  const onInterrupt = () =>
    void messages.note('Stopping after the current request. Press Ctrl-C again to quit at once.');
  const asksAlways = config.settings.confirm === 'always';
  return {
    onBegin: async () => interrupted.addEventListener('abort', onInterrupt, { once: true }),
    onEnd: async () => interrupted.removeEventListener('abort', onInterrupt),
    asks: (row) => {
      const { before, after = 0 } = row;
      const isBelow = after < 0 && (before === undefined || after < before);
      if (questions.willAsk()) return asksAlways || earlier !== undefined || isBelow || isLarge(row);
      // A script is not stopped, because the service specifies no bounds.
      if (isBelow) void messages.warn(`The stock of pet ${row.petId} goes below 0, to ${row.after}`);
      return false;
    },
    ask: async (row) => {
      const known = row.before === undefined ? await knownBefore(access, row.petId) : undefined;
      const facts = [...(isLarge(row) ? ['a large change'] : []), ...(earlier === undefined ? [] : [earlier])];
      if (known !== undefined) facts.push('according to the history');
      const asked = { ...row, before: row.before ?? known };
      const { names } = await access.invocation.remarks('person');
      const { planQuestion } = await import('../../output/preview.ts');
      await questions.confirm(planQuestion([asked], target, { verb: 'Write', facts }, names));
    },
  };
}

/**
 * Returns the last stock of a pet in the history, read or written; undefined if there is none, or if it is uncertain.
 */
async function knownBefore({ connection }: RunAccess, petId: bigint): Promise<number | undefined> {
  const { history, service } = connection;
  return (await history.lastKnown(service, [{ petId }])).get(petId);
}

function isLarge({ before, after = 0 }: BulkRow): boolean {
  return before !== undefined && Math.abs(after - before) >= largeJump;
}

/**
 * Prints the item that the service returned, if there is one, with the stock that was written. If that fails, the error
 * says that the stock was written, so that a script does not write it again.
 */
async function printItem(
  invocation: Invocation,
  { report }: RunResult,
  item: InventoryItem | undefined,
  { check }: SingleOptions,
  error: PetstockError | undefined,
): Promise<void> {
  const { results, target } = invocation;
  const [row] = report.rows;
  if (item === undefined || row === undefined || !['applied', 'unchanged', 'differs'].includes(row.result)) return;
  await check(item);
  const remarks = await invocation.remarks();
  // After a lost response the item was read, and may have a later stock.
  const shown = row.result === 'differs' ? item : { ...item, quantity: row.after ?? item.quantity };
  const view = inventoryItemView(shown, { ...remarks, before: row.before, run: report.run ?? undefined });
  await results.print(view, { ignoreInterrupt: true }).catch((cause) => {
    if (cause instanceof ClosedPipeError || error !== undefined) throw error ?? cause;
    const was = row.result === 'unchanged' ? 'needed no change' : `was set to ${row.after}`;
    const what = `The stock of pet ${row.petId} in ${targetName(target)} ${was}`;
    throw unshownError(`${what}, but that could not be shown`, report, cause);
  });
}

/**
 * Hints at the same `set` if it is not known whether it was carried out, and neither is the stock before it: resuming
 * the run could not tell whether the stock that was seen is that of before.
 */
function withSameSet(invocation: Invocation, write: SingleWrite, end: RunResult, error: PetstockError): PetstockError {
  const [row] = end.report.rows;
  const isSeen = end.execution?.quantities?.has(write.petId) === true;
  if (row?.result !== 'unknown' || row.before !== undefined || write.quantity === undefined || !isSeen) return error;
  const words = [...write.command.split(' '), `${write.petId}`, `${write.quantity}`];
  return error.with({ hint: petstock`${commandLine(invocation, words, { code: undefined })}` });
}

/**
 * Rewords the error for a pet that does not exist. Without an Error body, the address itself may be wrong, so the error
 * stays unchanged.
 */
function rewordNoPet(invocation: Invocation, write: SingleWrite, error: unknown): PetstockError {
  if (!(error instanceof NotFoundError)) return error as PetstockError;
  if (error.status !== undefined && error.serviceError === undefined) return error;
  const { target } = invocation;
  const { command, petId, quantity, delta } = write;
  const rounding = new RoundedIds([petId]).roundingOf(petId);
  const coded = [...command.split(' '), '--code', `${petId}`, `${quantity ?? delta}`];
  return error.with({
    message: `There is no pet ${petId} in ${targetName(target)}${rounding === undefined ? '' : `: ${rounding}`}`,
    hint: mayBeBarCode(petId)
      ? petstock`${commandLine(invocation, coded)}`
      : petstock`inventory list ${targetWords(target)}`,
    isReworded: true,
  });
}
