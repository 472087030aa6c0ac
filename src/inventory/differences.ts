import type { ItemColumns } from './item-columns.ts';

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

/** The places of items in the order of their ids; undefined where they stand in that order already. */
export type IdOrder = Uint32Array | undefined;

/**
 * Orders items by their ids without an object or a comparison for each: a radix sort, eleven bits at a time. Items of one id
 * keep their order.
 */
export function orderById(items: ItemColumns): IdOrder {
  if (isInOrder(items)) return undefined;
  let order = Uint32Array.from({ length: items.length }, (_, index) => index);
  let spare = new Uint32Array(items.length);
  for (const digitAt of digitsOf(items)) {
    const starts = startsOf(items.length, digitAt);
    if (starts === undefined) continue;
    for (const index of order) {
      const digit = digitAt(index);
      const to = starts[digit] ?? 0;
      starts[digit] = to + 1;
      spare[to] = index;
    }
    [order, spare] = [spare, order];
  }
  return order;
}

/** Of two items that are next to one another in the order of ids and have the same one: that id. */
export function repeatedId(items: ItemColumns, order: IdOrder): bigint | undefined {
  const { heads, tails, length } = items;
  for (let at = 1; at < length; at += 1) {
    const [left, right] = order === undefined ? [at - 1, at] : [order[at - 1] ?? 0, order[at] ?? 0];
    if (tails[left] === tails[right] && heads[left] === heads[right]) return items.petIdAt(left);
  }
  return undefined;
}

function isInOrder({ heads, tails, length }: ItemColumns): boolean {
  for (let index = 1; index < length; index += 1) {
    const head = heads[index] ?? 0;
    const before = heads[index - 1] ?? 0;
    if (head < before || (head === before && (tails[index] ?? 0) < (tails[index - 1] ?? 0))) return false;
  }
  return true;
}

const bits = 11;
const base = 2 ** bits;
/** No head and no tail is below its negative, so that with it added none is negative. */
const headShift = 10_000_000_000;
const tailShift = 1_000_000_000;

/** Each gives one digit of an item's id; the last digit comes first. */
function digitsOf({ heads, tails }: ItemColumns): ((index: number) => number)[] {
  const tail = (shift: number) => (index: number) => (((tails[index] ?? 0) + tailShift) >>> shift) & (base - 1);
  const head = (unit: number) => (index: number) => Math.floor(((heads[index] ?? 0) + headShift) / unit) % base;
  return [tail(0), tail(bits), tail(2 * bits), head(1), head(base), head(base * base), head(base * base * base)];
}

/** Where the items of each digit begin; undefined where all have the same. */
function startsOf(length: number, digitAt: (index: number) => number): Uint32Array | undefined {
  const starts = new Uint32Array(base);
  for (let index = 0; index < length; index += 1) {
    const digit = digitAt(index);
    starts[digit] = (starts[digit] ?? 0) + 1;
  }
  let start = 0;
  for (let digit = 0; digit < base; digit += 1) {
    const count = starts[digit] ?? 0;
    if (count === length) return undefined;
    starts[digit] = start;
    start += count;
  }
  return starts;
}
