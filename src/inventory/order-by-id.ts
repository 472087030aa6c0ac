import type { ItemColumns } from './item-columns.ts';

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
