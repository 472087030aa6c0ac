import type { ItemColumns } from './item-columns.ts';
import { type IdOrder, orderById } from './order-by-id.ts';

/** The stock of one pet on one side. An empty status: it is not known, and not compared. */
export interface Stock {
  readonly quantity: number;
  readonly status: string;
}

/** A pet that is not the same on both sides. */
export interface Difference {
  readonly petId: bigint;
  /** `added`: right alone has it; `removed`: left alone; `changed`: both. */
  readonly change: 'added' | 'removed' | 'changed';
  readonly left: Stock | undefined;
  readonly right: Stock | undefined;
}

/** Which fields of a pet that both sides have are compared; undefined: all. */
export type ComparedField = 'quantity' | 'status' | undefined;

/** A list and the order of its ids, none of which is there twice. */
export interface OrderedItems {
  readonly items: ItemColumns;
  readonly order: IdOrder;
}

export function ordered(items: ItemColumns): OrderedItems {
  return { items, order: orderById(items) };
}

/** In a batch: enough that what is done for a batch costs nothing. */
const batchSize = 1000;

/** What differs between two lists, by pet id, in batches. An object is made for what differs alone. */
export function* differences(
  left: OrderedItems,
  right: OrderedItems,
  only: ComparedField = undefined,
): Generator<readonly Difference[]> {
  const differs = comparer(left.items, right.items, only);
  let batch: Difference[] = [];
  let [leftAt, rightAt] = [0, 0];
  while (leftAt < left.items.length || rightAt < right.items.length) {
    const leftIndex = indexAt(left, leftAt);
    const rightIndex = indexAt(right, rightAt);
    const order = compareIds(left.items, leftIndex, right.items, rightIndex);
    if (order <= 0) leftAt += 1;
    if (order >= 0) rightAt += 1;
    if (order !== 0 || differs(leftIndex, rightIndex)) {
      batch.push(
        differenceOf(order <= 0 ? left.items : undefined, leftIndex, order >= 0 ? right.items : undefined, rightIndex),
      );
    }
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The index of the item at a place in the order; one past the last where there is none. */
function indexAt({ items, order }: OrderedItems, at: number): number {
  return at >= items.length || order === undefined ? at : (order[at] ?? 0);
}

/** Below 0 where left comes first. A list that has come to its end comes last. */
function compareIds(left: ItemColumns, leftIndex: number, right: ItemColumns, rightIndex: number): number {
  if (leftIndex >= left.length) return 1;
  if (rightIndex >= right.length) return -1;
  const heads = (left.heads[leftIndex] ?? 0) - (right.heads[rightIndex] ?? 0);
  return heads === 0 ? (left.tails[leftIndex] ?? 0) - (right.tails[rightIndex] ?? 0) : heads;
}

/** Returns whether two items of one pet differ, by their places. Statuses are compared as the codes of the right side. */
function comparer(
  left: ItemColumns,
  right: ItemColumns,
  only: ComparedField,
): (left: number, right: number) => boolean {
  const unknown = -1;
  /** A status that the right side never has. */
  const foreign = -2;
  const codes = (side: ItemColumns) =>
    Int32Array.from({ length: side.statuses.size }, (_, code) => {
      const text = side.statuses.textOf(code);
      return text === '' ? unknown : (right.statuses.find(text) ?? foreign);
    });
  const [leftCodes, rightCodes] = [codes(left), codes(right)];
  return (leftIndex, rightIndex) => {
    if (only !== 'status' && left.quantities[leftIndex] !== right.quantities[rightIndex]) return true;
    if (only === 'quantity') return false;
    const leftCode = leftCodes[left.statusCodes[leftIndex] ?? 0];
    const rightCode = rightCodes[right.statusCodes[rightIndex] ?? 0];
    return leftCode !== rightCode && leftCode !== unknown && rightCode !== unknown;
  };
}

function differenceOf(
  leftItems: ItemColumns | undefined,
  leftIndex: number,
  rightItems: ItemColumns | undefined,
  rightIndex: number,
): Difference {
  const left = leftItems?.itemAt(leftIndex);
  const right = rightItems?.itemAt(rightIndex);
  const change = left === undefined ? 'added' : right === undefined ? 'removed' : 'changed';
  return { petId: left?.petId ?? right?.petId ?? 0n, change, left, right };
}
