import { FailureError } from '../shared/errors.ts';
import type { ColumnBatches, ItemColumns } from './item-columns.ts';
import type { InventoryItem, UnreadableItem } from './items.ts';
import { PetIdSet, type PetIds } from './pet-id-set.ts';

/** Conditions on an item. A part that is absent admits everything; an empty set admits nothing. */
export interface FilterCriteria {
  readonly statuses?: ReadonlySet<string> | undefined;
  readonly petIds?: PetIds | undefined;
  readonly minQuantity?: number | undefined;
  readonly maxQuantity?: number | undefined;
}

export type ItemFilter = (batch: ItemColumns) => void;

/** A filter that admits the items which meet every part that is present. */
export function createFilter({ statuses, petIds, minQuantity, maxQuantity }: FilterCriteria): ItemFilter {
  const parts: ItemFilter[] = [];
  if (minQuantity !== undefined || maxQuantity !== undefined) {
    parts.push(quantityFilter(minQuantity ?? Number.NEGATIVE_INFINITY, maxQuantity ?? Number.POSITIVE_INFINITY));
  }
  if (statuses !== undefined) parts.push(statusFilter(statuses));
  if (petIds !== undefined) parts.push(petIdFilter(petIds));
  return (batch) => {
    for (const part of parts) part(batch);
  };
}

/** Yields the batches with only those items that meet all of the criteria; none without an item. */
export async function* filtered(
  batches: ColumnBatches,
  criteria: readonly FilterCriteria[],
): AsyncGenerator<ItemColumns> {
  const filters = criteria.map(createFilter);
  for await (const batch of batches) {
    for (const filter of filters) filter(batch);
    if (batch.length > 0) yield batch;
  }
}

/** Yields the first so many items. @param toTheEnd reads the others too, for what stands behind them */
export async function* firstItems(
  batches: ColumnBatches,
  limit: number,
  { toTheEnd }: { readonly toTheEnd: boolean },
): AsyncGenerator<ItemColumns> {
  let left = limit;
  for await (const batch of batches) {
    batch.truncate(left);
    left -= batch.length;
    if (batch.length > 0) yield batch;
    if (left <= 0 && !toTheEnd) return;
  }
}

/** Yields the same batches, and takes the pets that come out of `missing`. */
export async function* withoutFound(batches: ColumnBatches, missing: Set<bigint>): AsyncGenerator<ItemColumns> {
  const wanted = new PetIdSet(missing);
  for await (const batch of batches) {
    const { heads, tails, length } = batch;
    for (let index = 0; missing.size > 0 && index < length; index += 1) {
      if (wanted.placeOfParts(heads[index] ?? 0, tails[index] ?? 0) >= 0) missing.delete(batch.petIdAt(index));
    }
    yield batch;
  }
}

/** Whether a pet of unreadable stock may meet them: no limit lies between it and the nearest number. */
export function mayMeet(
  { statuses, petIds, minQuantity, maxQuantity }: FilterCriteria,
  { petId, status, nearest }: UnreadableItem,
): boolean {
  if (minQuantity !== undefined && nearest < minQuantity) return false;
  if (maxQuantity !== undefined && nearest > maxQuantity) return false;
  return (statuses === undefined || statuses.has(status)) && (petIds === undefined || petIds.has(petId));
}

function quantityFilter(least: number, most: number): ItemFilter {
  return (batch) => {
    const { quantities } = batch;
    batch.keep((index) => {
      const quantity = quantities[index] ?? 0;
      return quantity >= least && quantity <= most;
    });
  };
}

function statusFilter(wanted: ReadonlySet<string>): ItemFilter {
  return (batch) => {
    const { statusCodes, statuses } = batch;
    const passes = Array.from({ length: statuses.size }, (_, code) => wanted.has(statuses.textOf(code)));
    batch.keep((index) => passes[statusCodes[index] ?? 0] === true);
  };
}

function petIdFilter(petIds: PetIds): ItemFilter {
  const wanted = petIds instanceof PetIdSet ? petIds : new PetIdSet(petIds);
  return (batch) => {
    const { heads, tails } = batch;
    batch.keep((index) => wanted.placeOfParts(heads[index] ?? 0, tails[index] ?? 0) >= 0);
  };
}

/**
 * Goes through the items of some pets in a list, to its end.
 * @throws FailureError if the list has one of them twice: it can't be said which of the two is its stock
 */
export async function eachPicked(
  batches: AsyncIterable<ItemColumns>,
  petIds: PetIds,
  onItem: (item: InventoryItem) => void,
): Promise<void> {
  const wanted = petIds instanceof PetIdSet ? petIds : new PetIdSet(petIds);
  const only = createFilter({ petIds: wanted });
  const seen = new Uint8Array(wanted.size);
  let repeated: bigint | undefined;
  for await (const batch of batches) {
    only(batch);
    for (let index = 0; index < batch.length; index += 1) {
      const item = batch.itemAt(index);
      const place = wanted.placeOf(item.petId);
      if (seen[place] === 1) repeated ??= item.petId;
      seen[place] = 1;
      onItem(item);
    }
  }
  if (repeated === undefined) return;
  throw new FailureError(`The list of the service makes no sense: pet ${repeated} is in it twice`);
}
