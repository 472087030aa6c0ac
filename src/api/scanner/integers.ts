import type { ItemColumns } from '../../inventory/item-columns.ts';
import { byte, isDigit, isExponent, unread } from './bytes.ts';

/** This many digits always fit a 32-bit integer, which is fastest; a tail has as many. */
const fewDigits = 9;
/** A quantity with more digits is no safe integer. */
const maxQuantityDigits = 16;
const powers = Int32Array.from({ length: fewDigits + 1 }, (_, exponent) => 10 ** exponent);

/**
 * Reads the id or the quantity of an item into the columns, after the last item.
 * @returns its end, or `unread` if it is invalid, incomplete, or out of range
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

/** Reports whether there is no digit, or a leading zero. */
function hasWrongZero(bytes: Uint8Array, first: number, end: number): boolean {
  return end === first || (bytes[first] === byte.zero && end > first + 1);
}

/**
 * Stores an id that is `high` followed by `count` digits, which are `low`. It has at most 18 digits, so it is in range.
 */
function storeParts(
  { heads, tails, length }: ItemColumns,
  high: number,
  low: number,
  count: number,
  negative: boolean,
) {
  // If `count` is less than nine, some digits of `high` belong to the tail.
  const divisor = powers[fewDigits - count] ?? 1;
  const head = count === 0 ? 0 : (high / divisor) | 0;
  const tail = (high - head * divisor) * (powers[count] ?? 1) + low;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
}

/**
 * Reads an id of 19 digits: nine in `high`, nine in `low`, and one at `last`. Anything else of that length is read as a
 * decimal.
 */
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

/** The head and tail of 2⁶³. */
const largestHead = 9_223_372_036;
const largestTail = 854_775_808;

/**
 * Stores head × 10⁹ + tail as the id after the last item.
 * @returns false if it is no int64
 */
function storeId({ heads, tails, length }: ItemColumns, head: number, tail: number, negative: boolean): boolean {
  if (head > largestHead) return false;
  if (head === largestHead && tail > (negative ? largestTail : largestTail - 1)) return false;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
  return true;
}

/**
 * Stores the quantity after the last item.
 * @returns false if it is no safe integer
 */
function storeQuantity({ quantities, length }: ItemColumns, quantity: number, negative: boolean): boolean {
  if (quantity > Number.MAX_SAFE_INTEGER) return false;
  quantities[length] = negative ? 0 - quantity : quantity;
  return true;
}

/** Longer numbers are left to the exact decoder, which has the same limits. */
const maxDigits = 40;
const maxExponentDigits = 3;

/**
 * Reads an integer that may have a fraction and an exponent (`5.0`, `5e0`, `50e-1`) into the columns.
 * @returns its end, or `unread` if it is invalid, incomplete, out of range, or very long
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

/** Returns the end of one or more digits; `unread` if there is no digit, or too many. */
function digitsEnd(bytes: Uint8Array, start: number, most: number): number {
  let at = start;
  while (isDigit(bytes[at])) at += 1;
  return at === start || at - start > most ? unread : at;
}

function digitAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) - byte.zero;
}

/** The positions of the digits of a decimal. */
interface Decimal {
  readonly first: number;
  /** The position of the point, or `end` if there is none. */
  readonly point: number;
  readonly end: number;
  readonly exponent: number;
  readonly negative: boolean;
}

/** @returns false if the decimal is no integer, or out of range */
function storeDigits(bytes: Uint8Array, decimal: Decimal, columns: ItemColumns, isId: boolean): boolean {
  const { first, point, end, exponent, negative } = decimal;
  const digits = end - first - (end > point ? 1 : 0);
  // The number of digits before the point (including zeros) after applying the exponent.
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
