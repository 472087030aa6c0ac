import { batchSize, type ColumnBatches, compareIds, ItemColumns } from './item-columns.ts';
import { petStatuses } from './items.ts';

export const sortKeys = ['petId', 'quantity', 'status'] as const;
export type SortKey = (typeof sortKeys)[number];

export interface SortOptions {
  readonly key: SortKey;
  readonly descending: boolean;
  /** Maximum number of items to yield. The others are dropped early, to save memory. */
  readonly limit?: number | undefined;
}

/** Sorts items. Items with an equal key keep their order, also in descending order. */
export async function* sortItems(batches: ColumnBatches, options: SortOptions): AsyncGenerator<ItemColumns> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  // Items that can't be among the first are dropped, but not so often that the sorting costs more than it saves.
  const most = Math.max(2 * limit, 16 * batchSize);
  let kept = new ItemColumns();
  for await (const batch of batches) {
    kept.add(batch);
    if (kept.length >= most) kept = inOrder(kept, sortedOrder(kept, options).subarray(0, limit));
  }
  const order = sortedOrder(kept, options);
  const count = Math.min(order.length, limit);
  const out = new ItemColumns(Math.min(count, batchSize));
  out.statuses = kept.statuses;
  for (let at = 0; at < count; at += out.length) {
    out.length = Math.min(out.capacity, count - at);
    for (let index = 0; index < out.length; index += 1) out.copy(kept, order[at + index] ?? 0, index);
    yield out;
  }
}

function inOrder(from: ItemColumns, order: Uint32Array): ItemColumns {
  const columns = new ItemColumns(from.capacity);
  columns.statuses = from.statuses;
  for (const [to, index] of order.entries()) columns.copy(from, index, to);
  columns.length = order.length;
  return columns;
}

function sortedOrder(columns: ItemColumns, { key, descending }: SortOptions): Uint32Array {
  const compare = comparator(columns, key);
  const order = new Uint32Array(columns.length);
  for (let index = 0; index < order.length; index += 1) order[index] = index;
  return order.sort(
    descending
      ? (left, right) => compare(right, left) || left - right
      : (left, right) => compare(left, right) || left - right,
  );
}

type Comparator = (left: number, right: number) => number;

function comparator(columns: ItemColumns, key: SortKey): Comparator {
  const { petIds, quantities, statuses, statusCodes, length } = columns;
  if (key === 'petId') return (left, right) => compareIds(petIds[left] ?? 0n, petIds[right] ?? 0n);
  if (key === 'quantity') return (left, right) => difference(quantities, left, right);
  const names = Array.from({ length: statuses.size }, (_, code) => statuses.textOf(code));
  const sorted = names.toSorted(compareStatuses);
  const rankOf = new Map(sorted.map((name, rank) => [name, rank]));
  const ranks = Int32Array.from(statusCodes.subarray(0, length), (code) => rankOf.get(names[code] ?? '') ?? 0);
  return (left, right) => difference(ranks, left, right);
}

/** Returns the difference of safe integers: even if the difference is not exact, its sign is. */
function difference(values: Float64Array | Int32Array, left: number, right: number): number {
  return (values[left] ?? 0) - (values[right] ?? 0);
}

/** Orders available, pending, sold, then unknown statuses by their code units, whatever the locale. */
export function compareStatuses(left: string, right: string): number {
  if (left === right) return 0;
  return statusRank(left) - statusRank(right) || (left < right ? -1 : 1);
}

const knownRanks: ReadonlyMap<string, number> = new Map(petStatuses.map((status, rank) => [status, rank]));

function statusRank(status: string): number {
  return knownRanks.get(status) ?? petStatuses.length;
}
