import type { Client } from '../../../api/client.ts';
import { mayBeBarCode } from '../../../inventory/bar-codes.ts';
import { createFilter, eachPicked, filtered } from '../../../inventory/filter.ts';
import type { ColumnBatches, ItemColumns, ItemWriter } from '../../../inventory/item-columns.ts';
import { type InventoryItem, isPetStatus } from '../../../inventory/items.ts';
import { settingDefinitions } from '../../../settings/settings.ts';
import { NotFoundError, type PetstockError } from '../../../shared/errors.ts';
import { whereName, whereOptions } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import type { UnreadablePets } from './unreadable-pets.ts';

/**
 * Returns the stock levels as the service lists them, with a warning of the first status that the specification does not name.
 * @param unreadable takes the pets that the list is without: whoever prints the list ends with their error
 */
export function scanStock(invocation: Invocation, client: Client, unreadable: UnreadablePets): ColumnBatches {
  return withStatusWarning(invocation, client.scanInventory({ onUnreadable: unreadable.add }));
}

async function* withStatusWarning(invocation: Invocation, batches: ColumnBatches): AsyncGenerator<ItemColumns> {
  const warn = createStatusWarning(invocation);
  for await (const batch of batches) {
    await warn(batch);
    yield batch;
  }
}

/** Returns what warns of the first status that the specification does not name. */
function createStatusWarning(invocation: Invocation): (batch: ItemColumns) => Promise<void> {
  let warned = false;
  return async (batch) => {
    const unknown = warned ? undefined : batch.findByStatus((status) => !isPetStatus(status));
    if (unknown === undefined) return;
    warned = true;
    await warnOfStatus(invocation, unknown);
  };
}

export interface CopyStockOptions {
  /** Takes the pets that the list is without. */
  readonly unreadable: UnreadablePets;
  /** The only statuses; undefined: all. */
  readonly statuses: ReadonlySet<string> | undefined;
}

/** Returns the lines of a list that is printed as it is: items are copied where they can be. */
export async function* copyStock(
  invocation: Invocation,
  client: Client,
  writer: ItemWriter,
  { unreadable, statuses }: CopyStockOptions,
): AsyncGenerator<Uint8Array> {
  const warn = createStatusWarning(invocation);
  const filter = createFilter({ statuses });
  const use = async (batch: ItemColumns) => {
    await warn(batch);
    filter(batch);
  };
  yield* client.copyInventory(writer, { onUnreadable: unreadable.add, onRepeated: unreadable.repeat, statuses, use });
}

export async function warnOfStatus(invocation: Invocation, { petId, status }: InventoryItem): Promise<void> {
  if (isPetStatus(status)) return;
  const shown = status.length > 100 ? `${status.slice(0, 100)}…` : status;
  await invocation.messages.warn(`the service gives pet ${petId} a status which this version does not know:`, shown);
}

/**
 * One GET. A pet that the list does not have is missing.
 * @throws FailureError where the list has one of them twice
 */
export async function findItems(
  invocation: Invocation,
  client: Client,
  petIds: ReadonlySet<bigint>,
  unreadable: UnreadablePets,
): Promise<ReadonlyMap<bigint, InventoryItem>> {
  const found = new Map<bigint, InventoryItem>();
  const asked = filtered(client.scanInventory({ onUnreadable: unreadable.add }), [{ petIds }]);
  await eachPicked(withStatusWarning(invocation, asked), petIds, (item) => found.set(item.petId, item));
  return found;
}

/** Returns the error about one pet or several that the service does not have. */
export function noSuchPets({ where }: Invocation, petIds: readonly bigint[]): NotFoundError {
  const shown = petIds.slice(0, mostNamed);
  const last = petIds.length > mostNamed ? `${petIds.length - mostNamed} more` : shown.pop();
  const are = shown.length === 0 ? `is no pet ${last}` : `are no pets ${shown.join(', ')} and ${last}`;
  const code = petIds.find(mayBeBarCode);
  const look = code === undefined ? 'list' : `get --code ${code}`;
  return new NotFoundError(`There ${are} in ${whereName(where)}`, {
    hint: `petstock inventory ${look} ${whereOptions(where)}`,
  });
}

/**
 * @param leftOut of the pets that are unreadable
 * @throws it, else NotFoundError, where pets are unreadable or not there: one error that names all of them
 */
export function requireWhole(
  invocation: Invocation,
  leftOut: PetstockError | undefined,
  missing: readonly bigint[],
): void {
  const notFound = missing.length > 0 ? noSuchPets(invocation, missing) : undefined;
  // First, since a terminal shows no more than the beginning of many lines.
  if (leftOut && notFound) throw leftOut.with({ lines: [`${notFound.message}.`, ...leftOut.lines] });
  const error = leftOut ?? notFound;
  if (error) throw error;
}

/** At most this many ids are named in one message. */
const mostNamed = 20;

/** Returns what views of the stock are given. */
export async function stockViewOptions(invocation: Invocation) {
  return { lowStock: lowStockOf(invocation), names: await invocation.petNames() };
}

/** At or below it a quantity is marked in a table. */
export function lowStockOf({ config }: Invocation): number {
  return config.settings['low-stock'] ?? settingDefinitions['low-stock'].defaultValue ?? 0;
}
