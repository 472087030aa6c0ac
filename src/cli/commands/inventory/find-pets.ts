import type { Client } from '../../../api/client.ts';
import { RoundedIds } from '../../../change-files/rounded-ids.ts';
import { eachPicked, filtered } from '../../../inventory/filter.ts';
import { enumerated, type InventoryItem, type ItemBatches, listed, mayBeBarCode } from '../../../inventory/items.ts';
import { isPetStatus } from '../../../inventory/statuses.ts';
import { NotFoundError } from '../../../shared/errors.ts';
import { petstock, targetName, targetWords } from '../../../shared/hint.ts';
import { sentence } from '../../../shared/parsed.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/**
 * Yields the stock levels in the order of the service, and warns about the first status that the specification does not
 * define.
 */
export function scanStock(invocation: Invocation, client: Client): ItemBatches {
  return withStatusWarning(invocation, client.scanInventory());
}

async function* withStatusWarning(
  invocation: Invocation,
  batches: ItemBatches,
): AsyncGenerator<readonly InventoryItem[]> {
  let hasWarned = false;
  for await (const batch of batches) {
    const unknown: InventoryItem | undefined = hasWarned ? undefined : batch.find(({ status }) => !isPetStatus(status));
    if (unknown !== undefined) await warnOfStatus(invocation, unknown);
    hasWarned ||= unknown !== undefined;
    yield batch;
  }
}

export async function warnOfStatus(invocation: Invocation, { petId, status }: InventoryItem): Promise<void> {
  if (isPetStatus(status)) return;
  const shown = status.length > 100 ? `${status.slice(0, 100)}…` : status;
  await invocation.messages.warn(`The service gives pet ${petId} a status that this version does not know:`, shown);
}

/**
 * Returns the items of some pets. A pet that is not in the list is missing from the result. Sends one GET.
 * @param rounded receives all pets of the list
 * @throws FailureError if the list contains one of the pets twice
 */
export async function findItems(
  invocation: Invocation,
  client: Client,
  petIds: ReadonlySet<bigint>,
  rounded: RoundedIds,
): Promise<ReadonlyMap<bigint, InventoryItem>> {
  const found = new Map<bigint, InventoryItem>();
  const asked = filtered(seenBy(rounded, client.scanInventory()), [{ petIds }]);
  await eachPicked(withStatusWarning(invocation, asked), petIds, (item) => found.set(item.petId, item));
  return found;
}

async function* seenBy(rounded: RoundedIds, batches: ItemBatches): AsyncGenerator<readonly InventoryItem[]> {
  for await (const items of batches) {
    for (const item of items) rounded.see(item);
    yield items;
  }
}

/** @param rounded knows the pets of the service, if the list was read */
export function noSuchPets(
  { target }: Invocation,
  petIds: readonly bigint[],
  rounded = new RoundedIds(petIds),
): NotFoundError {
  const are = `${petIds.length === 1 ? 'is no pet' : 'are no pets'} ${enumerated(petIds)}`;
  const code = petIds.find(mayBeBarCode);
  const look = code === undefined ? ['list'] : ['get', '--code', `${code}`];
  const roundings = petIds.flatMap((petId) => {
    const rounding = rounded.roundingOf(petId);
    return rounding === undefined ? [] : [petIds.length === 1 ? rounding : `${petId}: ${rounding}`];
  });
  const why = petIds.length === 1 ? roundings.map((rounding) => `: ${rounding}`) : [];
  return new NotFoundError(`There ${are} in ${targetName(target)}${why}`, {
    lines: petIds.length === 1 ? [] : listed(roundings),
    hint: petstock`inventory ${look} ${targetWords(target)}`,
  });
}

/**
 * Ends a command some of whose pets are missing.
 * @param errors errors about names that no pet has
 * @throws NotFoundError that lists all of them
 */
export function requireFound(
  invocation: Invocation,
  missing: readonly bigint[],
  errors: readonly NotFoundError[],
  rounded?: RoundedIds,
): void {
  const [error, ...others] = missing.length > 0 ? [noSuchPets(invocation, missing, rounded), ...errors] : errors;
  if (error === undefined) return;
  // The lines of further errors come first, because a terminal shows only the beginning of many lines.
  const lines = others.flatMap((other) => [sentence(other.message), ...other.lines]);
  throw error.with({ lines: [...lines, ...error.lines] });
}
