import type { ItemColumns } from '../../inventory/item-columns.ts';
import { byte, isDigit, isExponent, unread } from './bytes.ts';

/** So many digits always fit a 32-bit integer, in which the machine counts fastest; it is what a tail has, too. */
const fewDigits = 9;
/** A quantity of more digits is no safe integer. */
const maxQuantityDigits = 16;
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
  else if (at - first > maxQuantityDigits) return unread;
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

/** 2⁶³ in head and tail. */
const largestHead = 9_223_372_036;
const largestTail = 854_775_808;

/** Stores head × 10⁹ + tail as the id behind the last item. @returns false if it is no int64 */
function storeId({ heads, tails, length }: ItemColumns, head: number, tail: number, negative: boolean): boolean {
  if (head > largestHead) return false;
  if (head === largestHead && tail > (negative ? largestTail : largestTail - 1)) return false;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
  return true;
}

/** Stores the quantity of the item behind the last. @returns false if it is no safe integer */
function storeQuantity({ quantities, length }: ItemColumns, quantity: number, negative: boolean): boolean {
  if (quantity > Number.MAX_SAFE_INTEGER) return false;
  quantities[length] = negative ? 0 - quantity : quantity;
  return true;
}

/** Longer numbers are left to the exact decoder, which has these limits, too. */
const maxDigits = 40;
const maxExponentDigits = 3;

/**
 * Reads an integer that may have a fraction and an exponent, `5.0`, `5e0` or `50e-1`, into the columns.
 * @returns where it ends, or `unread`: it is no legal number, not whole, out of range, or very long
 */
function readDecimal(bytes: Uint8Array, start: number, columns: ItemColumns, isId: boolean): number {
  const negative = bytes[start] === byte.minus;
  const first = negative ? start + 1 : start;
  const point = digitsEnd(bytes, first, maxDigits);
  if (point === unread || (bytes[first] === byte.zero && point > first + 1)) return unread;
  const digitsStop = bytes[point] === byte.point ? digitsEnd(bytes, point + 1, maxDigits) : point;
  if (digitsStop === unread) return unread;
  let end = digitsStop;
  let exponent = 0;
  if (isExponent(bytes[end])) {
    const sign = bytes[end + 1];
    const digits = sign === byte.minus || sign === byte.plus ? end + 2 : end + 1;
    end = digitsEnd(bytes, digits, maxExponentDigits);
    for (let at = digits; at < end; at += 1) exponent = exponent * 10 + digitAt(bytes, at);
    if (sign === byte.minus) exponent = -exponent;
  }
  if (end === unread) return unread;
  return storeDigits(bytes, { first, point, end: digitsStop, exponent, negative }, columns, isId) ? end : unread;
}

/** Where one digit and more end; `unread` if no digit stands there, or too many. */
function digitsEnd(bytes: Uint8Array, start: number, most: number): number {
  let at = start;
  while (isDigit(bytes[at])) at += 1;
  return at === start || at - start > most ? unread : at;
}

function digitAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) - byte.zero;
}

/** Where the digits of a decimal are. */
interface Decimal {
  readonly first: number;
  /** Where the point is, or `end` if the number has no point. */
  readonly point: number;
  readonly end: number;
  readonly exponent: number;
  readonly negative: boolean;
}

/** @returns false if the decimal is not whole, or out of range */
function storeDigits(bytes: Uint8Array, decimal: Decimal, columns: ItemColumns, isId: boolean): boolean {
  const { first, point, end, exponent, negative } = decimal;
  const digits = end - first - (end > point ? 1 : 0);
  // So many digits, zeros with them, are before the point once the exponent has moved it.
  const whole = point - first + exponent;
  let head = 0;
  let tail = 0;
  for (let index = 0; index < digits || index < whole; index += 1) {
    const at = first + index;
    const digit = index < digits ? digitAt(bytes, at < point ? at : at + 1) : 0;
    if (index < whole) {
      head = head * 10 + Math.floor(tail / 1e8);
      tail = (tail % 1e8) * 10 + digit;
      if (head > largestHead) return false;
    } else if (digit !== 0) return false;
  }
  return isId ? storeId(columns, head, tail, negative) : storeQuantity(columns, head * 1e9 + tail, negative);
}
