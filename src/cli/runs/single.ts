import type { BulkRow } from '../../inventory/change.ts';
import { type InventoryItem, unreadableText } from '../../inventory/items.ts';
import { outdatedText } from '../../inventory/pet-id-set.ts';
import { addDelta } from '../../inventory/values.ts';
import { inventoryItemView } from '../../output/inventory-view.ts';
import { execute, type RunAudience, type RunEnd, type RunOptions } from '../../runs/execute.ts';
import {
  ClosedPipeError,
  ConflictError,
  FailureError,
  NotFoundError,
  type PetstockError,
  UsageError,
} from '../../shared/errors.ts';
import { whereName, whereOptions } from '../../shared/where.ts';
import type { Stock } from '../../writes/row-write.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { petNamesOf } from '../pet-names.ts';
import { noteUndoOf, printReport } from './print-report.ts';
import { onePet, planQuestion } from './question.ts';
import { openSession, type Session } from './session.ts';

/** A write of one pet, without a preview. */
export interface SingleWrite {
  /** For the history: `inventory set` */
  readonly command: string;
  readonly petId: bigint;
  /** One of both: the stock that is wanted, or what is added to it. */
  readonly quantity: number | undefined;
  readonly delta: number | undefined;
  /** The stock that it relies on; undefined: on any. */
  readonly expected: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

export interface SingleOptions {
  /** Reads the stock first; a delta does in any case. */
  readonly readsFirst: boolean;
  /** Prints the report of a run rather than the item. */
  readonly printsRun: boolean;
  /** The item is shown with this. */
  readonly lowStock: number;
  /** Is given the item before it is shown. */
  check(item: InventoryItem): Promise<void>;
}

const runOptions: RunOptions = {
  dryRun: false,
  failFast: false,
  concurrency: 1,
  guards: { maxChanges: undefined, maxZero: undefined },
};

/** A change that is larger than this is asked about: a bar code is easily scanned where a stock was meant. */
const largeJump = 1000;

/** Writes one pet as a run of its own, and shows what the service answered. */
export async function writeSingle(invocation: Invocation, write: SingleWrite, options: SingleOptions): Promise<void> {
  await invocation.service.beginWrite(undefined);
  const session = await openSession(invocation, { writes: true });
  let seen: InventoryItem | undefined;
  const audience = singleAudience(invocation, (item) => {
    if (item.petId === write.petId) seen = item;
  });
  const reads = options.readsFirst || write.delta !== undefined || write.expected !== undefined;
  const isUndoable = reads || (await isKnownBefore(session, write.petId));
  const end = await (reads ? readAndWrite(session, write, audience) : writeBlind(session, write, audience)).catch(
    (error) => {
      throw worded(invocation, write.petId, error);
    },
  );
  const error = end.error && worded(invocation, write.petId, end.error);
  if (options.printsRun) await printReport(invocation, end.report, { changedOnly: false });
  else await printItem(invocation, end, seen, options, error);
  const [row] = end.report.rows;
  const isWritten = row !== undefined && ['applied', 'differs', 'unknown'].includes(row.result);
  if (isWritten && !isUndoable) {
    await invocation.messages.note("Not known what it was before: this can't be taken back.");
  } else if (isWritten && invocation.context.stderr.isTerminal && end.report.run !== null) {
    await noteUndoOf(invocation, end.report.run);
  }
  if (error !== undefined) throw error;
}

function singleAudience({ context, messages }: Invocation, seen: (item: InventoryItem) => void): RunAudience {
  const { interrupted } = context;
  const onInterrupt = () => void messages.note('Stopping after the request in flight. Ctrl-C again ends at once.');
  return {
    begun: async () => interrupted.addEventListener('abort', onInterrupt, { once: true }),
    ended: async () => interrupted.removeEventListener('abort', onInterrupt),
    seen,
  };
}

/** The history may know the stock that a plain set does not read. */
async function isKnownBefore({ site }: Session, petId: bigint): Promise<boolean> {
  const [known] = await site.state.history.lastKnownQuantities(site.service, [{ petId }]);
  return known !== undefined;
}

/** Sets the stock, whatever it is: one request. */
async function writeBlind(session: Session, write: SingleWrite, audience: RunAudience): Promise<RunEnd> {
  const { petId, quantity, command } = write;
  const row = rowOf(write, undefined, quantity ?? 0);
  await agreeBlind(session, row);
  const plan = { subject: { command }, rows: [row], stock: undefined, single: {} };
  if ((quantity ?? 0) < 0 && !session.invocation.questions.willAsk())
    await warnBelowZero(session.invocation, petId, quantity);
  return execute(session.site, plan, runOptions, audience);
}

/** @throws UsageError if the answer is no, or can't be given */
async function agreeBlind({ invocation, site }: Session, row: BulkRow): Promise<void> {
  const { questions, config, where } = invocation;
  const asksAlways = config.settings.confirm === 'always';
  if (!asksAlways && !(questions.willAsk() && (row.after ?? 0) < 0)) return;
  const [known] = questions.willAsk()
    ? await site.state.history.lastKnownQuantities(site.service, [{ petId: row.petId }])
    : [];
  const facts = known === undefined ? [] : [`as the history of this machine knows it`];
  await questions.confirm(planQuestion([{ ...row, before: known }], where, { verb: 'Write', facts }));
}

/**
 * Reads the stock and writes what follows from it: two requests, admitted together. If a person has to agree (the setting
 * `confirm` is `always`, the stock goes below zero, or the change is large) nothing is held meanwhile: the stock is read again,
 * and if it has moved the question comes again.
 */
async function readAndWrite(session: Session, write: SingleWrite, audience: RunAudience): Promise<RunEnd> {
  const { invocation, site } = session;
  const { questions, where } = invocation;
  const { executeInTurn } = await import('../../runs/in-turn.ts');
  let agreed: number | undefined;
  for (;;) {
    let asked: BulkRow | undefined;
    const planOf = (stock: Stock) => {
      const row = rowOn(invocation, write, stock);
      const asks = questions.willAsk() && mustAsk(invocation, row);
      if (asks && agreed !== row.before) {
        asked = row;
        return undefined;
      }
      if (!asks && (row.after ?? 0) < 0) void warnBelowZero(invocation, row.petId, row.after);
      return { subject: { command: write.command }, rows: [row] };
    };
    const end = await executeInTurn(site, write.petId, planOf, runOptions, audience);
    if (end !== undefined) return end;
    if (asked === undefined) throw new Error('a plan was neither carried out nor asked about');
    const facts = isLarge(asked) ? ['a large change'] : [];
    await questions.confirm(planQuestion([asked], where, { verb: 'Write', facts }));
    agreed = asked.before;
  }
}

function mustAsk({ config }: Invocation, row: BulkRow): boolean {
  return config.settings.confirm === 'always' || (row.after ?? 0) < 0 || isLarge(row);
}

function isLarge({ before = 0, after = 0 }: BulkRow): boolean {
  return Math.abs(after - before) >= largeJump;
}

/** @throws NotFoundError, FailureError, ConflictError, UsageError if it can't be written on this stock */
function rowOn({ where }: Invocation, write: SingleWrite, { quantities }: Stock): BulkRow {
  const { petId, quantity, delta, expected } = write;
  const found = quantities.get(petId);
  const unreadable = quantities.unreadable?.get(petId);
  const outdated = quantities.outdated?.get(petId);
  if (unreadable !== undefined) {
    const message = `The stock of pet ${petId} can't be relied on: ${unreadableText(unreadable)}; nothing was written`;
    throw new FailureError(message, { hint: `petstock api GET /inventory ${whereOptions(where)}` });
  }
  const hint = `petstock inventory get ${petId} ${whereOptions(where)}`;
  if (outdated !== undefined)
    throw new ConflictError(`Nothing was written: pet ${petId}: ${outdatedText(outdated)}`, { hint });
  if (found === undefined) throw new NotFoundError(`There is no pet ${petId}`);
  if (expected !== undefined && found !== expected) {
    throw new ConflictError(`The stock of pet ${petId} is ${found}, not ${expected}; nothing was written`, { hint });
  }
  const target = delta === undefined ? undefined : addDelta(found, delta);
  if (target?.ok === false) throw new UsageError(`${target.fault.charAt(0).toUpperCase()}${target.fault.slice(1)}.`);
  return rowOf(write, found, target?.value ?? quantity ?? found);
}

function rowOf(
  { petId, delta, expected, reason, ref }: SingleWrite,
  before: number | undefined,
  after: number,
): BulkRow {
  return { line: 1, petId, before, after, delta, expected, result: 'planned', reason, ref };
}

/** In a script it goes through, with a warning: the service specifies no bounds. */
function warnBelowZero({ messages }: Invocation, petId: bigint, after: number | undefined): Promise<void> {
  return messages.warn(`the stock of pet ${petId} goes below 0, to ${after}`);
}

/** If the item can't be shown, a script must not take the change for a failed one and repeat it. */
async function printItem(
  invocation: Invocation,
  { report }: RunEnd,
  item: InventoryItem | undefined,
  { lowStock, check }: SingleOptions,
  error: PetstockError | undefined,
): Promise<void> {
  const { results, where } = invocation;
  const [row] = report.rows;
  if (item === undefined || row === undefined || !['applied', 'unchanged', 'differs'].includes(row.result)) return;
  await check(item);
  const names = await petNamesOf(invocation);
  const view = inventoryItemView(item, { lowStock, names, before: row.before, run: report.run ?? undefined });
  await results.print(view, { inSpiteOfInterruption: true }).catch((cause) => {
    if (cause instanceof ClosedPipeError || error !== undefined) throw error ?? cause;
    const message = `${onePet(row, where)} was written, but that could not be shown: ${cause.message}`;
    throw new FailureError(message, { cause });
  });
}

/** Without an Error body the address itself may be wrong, so nothing is said about the pet. */
function worded({ where }: Invocation, petId: bigint, error: unknown): PetstockError {
  if (!(error instanceof NotFoundError)) return error as PetstockError;
  if (error.status !== undefined && error.service === undefined) return error;
  return error.with({
    message: `There is no pet ${petId} in ${whereName(where)}`,
    hint: `petstock inventory list ${whereOptions(where)}`,
  });
}
