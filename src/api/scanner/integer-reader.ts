import type { ItemColumns } from '../../inventory/item-columns.ts';
import { byte, isDigit, isExponent, unread } from './bytes.ts';
import { readDecimal } from './decimal-reader.ts';
import { storeId, storeQuantity } from './integer-store.ts';

/** So many digits always fit a 32-bit integer, in which the machine counts fastest; it is what a tail has, too. */
const fewDigits = 9;
/** A quantity of more digits is no safe integer. */
const mostQuantityDigits = 16;
const powers = Int32Array.from({ length: fewDigits + 1 }, (_, exponent) => 10 ** exponent);

/**
 * Reads the id or the quantity of an item into the columns, behind the last item.
 * @returns where it ends, or `unread`: it is no legal number, not whole, or out of range
 */
export function readInteger(bytes: Uint8Array, start: number, columns: ItemColumns, isId: boolean): number {
  const negative = bytes[start] === byte.minus;
  const first = negative ? start + 1 : start;
  let at = first;
  let high = 0;
  for (const most = first + fewDigits; at < most; at += 1) {
    const digit = (bytes[at] ?? 0) - byte.zero;
    if (digit < 0 || digit > 9) break;
    high = (high * 10 + digit) | 0;
  }
  const middle = at;
  let low = 0;
  for (const most = first + 2 * fewDigits; at < most; at += 1) {
    const digit = (bytes[at] ?? 0) - byte.zero;
    if (digit < 0 || digit > 9) break;
    low = (low * 10 + digit) | 0;
  }
  const next = bytes[at];
  if (isDigit(next)) return readLong(bytes, start, at, columns, isId, high, low);
  if (next === byte.point || isExponent(next)) return readDecimal(bytes, start, columns, isId);
  if (hasWrongZero(bytes, first, at)) return unread;
  if (isId) storeParts(columns, high, low, at - middle, negative);
  else if (at - first > mostQuantityDigits) return unread;
  else if (!storeQuantity(columns, high * (powers[at - middle] ?? 1) + low, negative)) return unread;
  return at;
}

/** No digit, or a leading zero. */
function hasWrongZero(bytes: Uint8Array, first: number, end: number): boolean {
  return end === first || (bytes[first] === byte.zero && end > first + 1);
}

/** The id is `high` with `count` digits behind it, which are `low`: 18 at most, so that it is in range. */
function storeParts(
  { heads, tails, length }: ItemColumns,
  high: number,
  low: number,
  count: number,
  negative: boolean,
) {
  // Of nine digits in front, as many belong to the head as there are others.
  const divisor = powers[fewDigits - count] ?? 1;
  const head = count === 0 ? 0 : (high / divisor) | 0;
  const tail = (high - head * divisor) * (powers[count] ?? 1) + low;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
}

/** An id of 19 digits: the nine of `high`, the nine of `low`, and one at `last`. Whatever else is long is a decimal. */
function readLong(
  bytes: Uint8Array,
  start: number,
  last: number,
  columns: ItemColumns,
  isId: boolean,
  high: number,
  low: number,
): number {
  const next = bytes[last + 1];
  const negative = bytes[start] === byte.minus;
  const isPlain = isId && high >= 1e8 && !isDigit(next) && next !== byte.point && !isExponent(next);
  if (!isPlain) return readDecimal(bytes, start, columns, isId);
  const first = Math.floor(low / 1e8);
  const tail = (low - first * 1e8) * 10 + (bytes[last] ?? 0) - byte.zero;
  return storeId(columns, high * 10 + first, tail, negative) ? last + 1 : unread;
}
