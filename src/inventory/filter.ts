import { FailureError } from '../shared/errors.ts';
import { type InventoryItem, type TextField, textFields } from './item-fields.ts';
import { type ItemBatches, isLow, type LowLevels } from './items.ts';

/** Conditions on an item. An absent property accepts everything; an empty set accepts nothing. */
export interface FilterCriteria {
  /** The values that a field of text may have; an absent value counts as an empty one. */
  readonly texts?: Texts | undefined;
  readonly petIds?: ReadonlySet<bigint> | undefined;
  readonly minQuantity?: number | undefined;
  readonly maxQuantity?: number | undefined;
  readonly low?: LowLevels | undefined;
}

export type Texts = Readonly<Partial<Record<TextField, ReadonlySet<string>>>>;

/** Reports whether an item meets the criteria. */
export function meets(item: InventoryItem, criteria: FilterCriteria): boolean {
  const { petId, quantity } = item;
  const { texts, petIds, minQuantity, maxQuantity, low } = criteria;
  return (
    (minQuantity === undefined || quantity >= minQuantity) &&
    (maxQuantity === undefined || quantity <= maxQuantity) &&
    (texts === undefined || hasTexts(item, texts)) &&
    (low === undefined || isLow(item, low)) &&
    (petIds === undefined || petIds.has(petId))
  );
}

/** Reports whether each field of text has one of its values. */
export function hasTexts(item: Pick<InventoryItem, TextField>, texts: Texts): boolean {
  return textFields.every((name) => texts[name]?.has(item[name] ?? '') ?? true);
}

/**
 * Yields the items that meet all criteria. Leaves out empty batches.
 * @param missing pets from which those of the list are removed, whether they meet the criteria or not
 */
export async function* filtered(
  batches: ItemBatches,
  criteria: readonly FilterCriteria[],
  missing = new Set<bigint>(),
): AsyncGenerator<readonly InventoryItem[]> {
  for await (const batch of batches) {
    if (missing.size > 0) for (const { petId } of batch) missing.delete(petId);
    const items = batch.filter((item) => criteria.every((each) => meets(item, each)));
    if (items.length > 0) yield items;
  }
}

/**
 * Yields the first `limit` items.
 * @param toTheEnd whether to read the list to its end anyway
 */
export async function* firstItems(
  batches: ItemBatches,
  limit: number,
  { toTheEnd }: { readonly toTheEnd: boolean },
): AsyncGenerator<readonly InventoryItem[]> {
  let left = limit;
  for await (const batch of batches) {
    const items = batch.slice(0, left);
    left -= items.length;
    if (items.length > 0) yield items;
    if (left <= 0 && !toTheEnd) return;
  }
}

/**
 * Calls `onItem` for the items of some pets in a list, and reads the list to its end.
 * @throws FailureError if the list contains one of these pets twice, because it is not known which item has its stock
 */
export async function eachPicked(
  batches: ItemBatches,
  petIds: Pick<ReadonlySet<bigint>, 'has'>,
  onItem: (item: InventoryItem) => void,
): Promise<void> {
  const seen = new Set<bigint>();
  let repeated: bigint | undefined;
  for await (const items of batches) {
    for (const item of items) {
      if (!petIds.has(item.petId)) continue;
      if (seen.has(item.petId)) repeated ??= item.petId;
      seen.add(item.petId);
      onItem(item);
    }
  }
  if (repeated === undefined) return;
  throw new FailureError(`The service returned an invalid list: pet ${repeated} appears twice`);
}
