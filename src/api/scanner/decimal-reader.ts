import type { ItemColumns } from '../../inventory/item-columns.ts';
import { byte, isDigit, isExponent, unread } from './bytes.ts';
import { largestHead, storeId, storeQuantity } from './integer-store.ts';

/** Longer numbers are left to the exact decoder, which has these limits, too. */
const mostDigits = 40;
const mostExponentDigits = 3;

/**
 * Reads an integer that may have a fraction and an exponent, `5.0`, `5e0` or `50e-1`, into the columns.
 * @returns where it ends, or `unread`: it is no legal number, not whole, out of range, or very long
 */
export function readDecimal(bytes: Uint8Array, start: number, columns: ItemColumns, isId: boolean): number {
  const negative = bytes[start] === byte.minus;
  const first = negative ? start + 1 : start;
  const point = digitsEnd(bytes, first, mostDigits);
  if (point === unread || (bytes[first] === byte.zero && point > first + 1)) return unread;
  const digitsStop = bytes[point] === byte.point ? digitsEnd(bytes, point + 1, mostDigits) : point;
  if (digitsStop === unread) return unread;
  let end = digitsStop;
  let exponent = 0;
  if (isExponent(bytes[end])) {
    const sign = bytes[end + 1];
    const digits = sign === byte.minus || sign === byte.plus ? end + 2 : end + 1;
    end = digitsEnd(bytes, digits, mostExponentDigits);
    for (let at = digits; at < end; at += 1) exponent = exponent * 10 + digitAt(bytes, at);
    if (sign === byte.minus) exponent = -exponent;
  }
  if (end === unread) return unread;
  return storeDigits(bytes, { first, point, end: digitsStop, exponent, negative }, columns, isId) ? end : unread;
}

/** Where one digit and more end; `unread` where no digit stands there, or too many. */
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
  /** Where the point is, or `end` where the number has no point. */
  readonly point: number;
  readonly end: number;
  readonly exponent: number;
  readonly negative: boolean;
}

/** @returns false where the decimal is not whole, or out of range */
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
