import { type Journal, openJournal } from '../../../history/journal.ts';
import type { InventoryItem } from '../../../inventory/items.ts';
import { inventoryItemView } from '../../../output/inventory-view.ts';
import {
  ClosedPipeError,
  FailureError,
  InterruptedError,
  NotFoundError,
  PetstockError,
  UnavailableError,
} from '../../../shared/errors.ts';
import type { Connection } from '../../invocation/connect.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { lowStockOf, noSuchPet, warnOfStatus } from './stock.ts';

export interface StockWrite {
  /** For the history: `inventory set` */
  readonly command: string;
  readonly petId: bigint;
  /** The stock that was read before, where it was. */
  readonly before: number | undefined;
  readonly quantity: number;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/**
 * Sets the stock of one pet: the intent in the history, the request, its outcome in the history.
 * @returns the item as the service answered it
 */
export async function writeStock(
  invocation: Invocation,
  connection: Connection,
  write: StockWrite,
): Promise<InventoryItem> {
  const { petId, quantity } = write;
  const item = await journaled(invocation, connection, write);
  if (item.quantity !== quantity) {
    await invocation.warn(`the service set the stock of pet ${petId} to ${item.quantity}, not to ${quantity}`);
  }
  await warnOfStatus(invocation, item);
  return item;
}

async function journaled(invocation: Invocation, connection: Connection, write: StockWrite): Promise<InventoryItem> {
  const { petId, quantity } = write;
  const journal = await openWithIntent(invocation, connection, write);
  try {
    const item = await update(connection, petId, quantity).catch(async (error) => {
      await noteFailed(journal, error);
      throw worded(invocation, petId, error);
    });
    await noteApplied(journal, item);
    return item;
  } finally {
    await closeQuietly(journal);
  }
}

/** @throws FailureError where the intent can't be written: then nothing is sent */
async function openWithIntent(invocation: Invocation, connection: Connection, write: StockWrite): Promise<Journal> {
  const { command, petId, before, quantity, reason, ref } = write;
  let journal: Journal | undefined;
  try {
    journal = await open(invocation, connection, command);
    await journal.plan([{ row: 1, line: 1, petId, before, after: quantity, reason, ref }], 0);
    await journal.intent(1);
    return journal;
  } catch (cause) {
    await closeQuietly(journal);
    throw new FailureError(`${(cause as Error).message}, so nothing was sent`, { cause });
  }
}

/** @throws FailureError that says that the stock was set all the same */
async function noteApplied(journal: Journal, { petId, quantity }: InventoryItem): Promise<void> {
  try {
    await journal.outcome({ row: 1, result: 'applied', quantity });
  } catch (cause) {
    throw new FailureError(`The stock of pet ${petId} was set to ${quantity}, but: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Where even that can't be written, the intent without an outcome says that it is not known; the failure matters more. */
async function noteFailed(journal: Journal, error: unknown): Promise<void> {
  try {
    await journal.outcome({ row: 1, ...failureOf(error) });
  } catch {
    // The person is about to be told what failed.
  }
}

/** All that matters is on disk by then, or the person is being told that it is not. */
async function closeQuietly(journal: Journal | undefined): Promise<void> {
  await journal?.close().catch(() => {});
}

function open({ context }: Invocation, { environment, baseUrl, scope }: Connection, command: string): Promise<Journal> {
  const { clock, random, folders, env, processes } = context;
  const user = env.USER ?? env.LOGNAME ?? env.USERNAME;
  const head = { command, env: environment, baseUrl, key: scope, user };
  const { pid } = processes;
  return openJournal(head, { stateFolder: folders.state, now: () => clock.now(), random, pid, boot: clock.boot() });
}

async function update({ client }: Connection, petId: bigint, quantity: number): Promise<InventoryItem> {
  const item = await client.updateInventory(petId, quantity);
  if (item.petId === petId) return item;
  throw new FailureError(`Pet ${petId} was to be set, but the service answered with pet ${item.petId}`);
}

/** A 4xx says that nothing was written, and so does a request that never left. After anything else it may have been. */
function failureOf(error: unknown) {
  if (!(error instanceof PetstockError)) return { result: 'unknown' as const };
  const { code, message, status } = { ...error, message: error.message, ...error.service };
  const refused = error.unsent || (error.exit !== 'rateLimited' && error.status !== undefined && error.status < 500);
  return { result: refused ? ('failed' as const) : ('unknown' as const), error: { code, message, status } };
}

/** Says which pet it was, and where the outcome is open, that it is. */
function worded(invocation: Invocation, petId: bigint, error: unknown): unknown {
  const hint = `petstock inventory get ${petId} --env ${invocation.environment.value}`;
  // Without an Error body the address itself may be wrong, so nothing is said about the pet.
  if (error instanceof NotFoundError && error.service) return noSuchPet(invocation, petId, error);
  if (error instanceof InterruptedError && error.unsent) {
    return new InterruptedError(`Interrupted; the stock of pet ${petId} was not set`);
  }
  if (error instanceof InterruptedError) {
    return new InterruptedError(`Interrupted. It is not known whether the stock of pet ${petId} was set`, { hint });
  }
  if (error instanceof FailureError && !error.unsent && error.status === undefined) {
    const message = `${error.message}. It is not known whether the stock of pet ${petId} was set`;
    return new FailureError(message, { hint, cause: error });
  }
  if (error instanceof UnavailableError && !error.unsent) {
    const { status, service } = error;
    const message = `${error.message}. It is not known whether the stock of pet ${petId} was set`;
    return new UnavailableError(message, { status, service, hint, cause: error });
  }
  return error;
}

/** Shows an item that was set. Where that fails, a script must not take the change for a failed one and repeat it. */
export async function printWritten(invocation: Invocation, item: InventoryItem, before?: number): Promise<void> {
  const view = inventoryItemView(item, { lowStock: lowStockOf(invocation), before });
  await invocation.print(view).catch((cause) => {
    if (cause instanceof ClosedPipeError) throw cause;
    const { petId, quantity } = item;
    const message = `The stock of pet ${petId} was set to ${quantity}, but that could not be shown: ${cause.message}`;
    throw new FailureError(message, { cause });
  });
}
