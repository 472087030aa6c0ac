import type { ItemColumns } from '../../inventory/item-columns.ts';
import { byte, notPlain, skipSpace } from './bytes.ts';
import { Fragment } from './fragment.ts';
import { StatusReader } from './status-reader.ts';

/** What stands before each value where nobody has added white space. */
const beforePetId = new Fragment('{"petId":');
const beforeQuantity = new Fragment(',"quantity":');
const beforeStatus = new Fragment(',"status":');

const petIdName = new Fragment('"petId":');
const quantityName = new Fragment('"quantity":');
const statusName = new Fragment('"status":');
/** The bits of the fields that an item has had: 1, 2 and 4. */
const allFields = 7;

/** So many digits always fit a 32-bit integer, in which the machine counts fastest; it is what a tail has, too. */
const fewDigits = 9;
/** An id of 19 digits with a larger head may be no int64. */
const largestHead = 9_223_372_035;
/** A quantity of more digits may not be a safe integer. */
const mostQuantityDigits = 15;
const powers = Int32Array.from({ length: fewDigits + 1 }, (_, exponent) => 10 ** exponent);

/**
 * Reads the items that a service usually sends straight from bytes into columns: exactly the three fields, in any order,
 * with white space where writers put it, whole numbers of digits alone, text of plain ASCII. Whatever else is legal JSON
 * is left to the exact decoder: this one gives up rather than guess.
 */
export class PlainItemReader {
  readonly #statuses = new StatusReader();

  constructor(readonly columns: ItemColumns) {}

  /**
   * Appends the item whose brace is at `start`. The last byte must be followed by a zero byte, and that by as many bytes
   * of any kind as the longest name has.
   *
   * @param view of the same bytes
   * @returns where the item ends, or `notPlain`; then nothing was appended
   */
  read(bytes: Uint8Array, view: DataView, start: number): number {
    const end = this.#readCompact(bytes, view, start);
    return end === notPlain ? this.#readSpaced(bytes, view, start) : end;
  }

  /** `{"petId":1,"quantity":5,"status":"available"}`, as most services write it. */
  #readCompact(bytes: Uint8Array, view: DataView, start: number): number {
    const { columns } = this;
    if (!beforePetId.isAt(view, start)) return notPlain;
    let at = readInteger(bytes, start + beforePetId.length, columns, true);
    if (at === notPlain || !beforeQuantity.isAt(view, at)) return notPlain;
    at = readInteger(bytes, at + beforeQuantity.length, columns, false);
    if (at === notPlain || !beforeStatus.isAt(view, at)) return notPlain;
    at = this.#status(bytes, at + beforeStatus.length);
    if (at === notPlain || bytes[at] !== byte.closeBrace) return notPlain;
    columns.length += 1;
    return at + 1;
  }

  /** In any order, with white space. */
  #readSpaced(bytes: Uint8Array, view: DataView, start: number): number {
    const { columns } = this;
    let seen = 0;
    let at = start;
    do {
      at = skipSpace(bytes, at + 1);
      const name = nameAt(view, at);
      const bit = name === petIdName ? 1 : name === quantityName ? 2 : 4;
      // The same field twice has a meaning of its own, which the exact decoder knows.
      if (name === undefined || (seen & bit) !== 0) return notPlain;
      seen |= bit;
      at = skipSpace(bytes, at + name.length);
      at = name === statusName ? this.#status(bytes, at) : readInteger(bytes, at, columns, name === petIdName);
      if (at === notPlain) return notPlain;
      at = skipSpace(bytes, at);
    } while (bytes[at] === byte.comma);
    if (bytes[at] !== byte.closeBrace || seen !== allFields) return notPlain;
    columns.length += 1;
    return at + 1;
  }

  #status(bytes: Uint8Array, start: number): number {
    const { statusCodes, statuses, length } = this.columns;
    const end = this.#statuses.read(bytes, start, statuses);
    statusCodes[length] = this.#statuses.code;
    return end;
  }
}

function nameAt(view: DataView, at: number): Fragment | undefined {
  if (petIdName.isAt(view, at)) return petIdName;
  if (quantityName.isAt(view, at)) return quantityName;
  return statusName.isAt(view, at) ? statusName : undefined;
}

/**
 * Reads a whole number of digits alone into the columns, behind the last item.
 * @returns where it ends; `notPlain` for what is none, has too many digits or a leading zero, and for -0
 */
function readInteger(bytes: Uint8Array, start: number, columns: ItemColumns, isId: boolean): number {
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
  if (hasWrongZero(bytes, first, at, negative)) return notPlain;
  if (isDigit(bytes[at])) return isId ? readLongestId(bytes, at, columns, high, low, negative) : notPlain;
  if (isId) storeId(columns, high, low, at - middle, negative);
  else if (at - first > mostQuantityDigits) return notPlain;
  else storeQuantity(columns, high * (powers[at - middle] ?? 1) + low, negative);
  return at;
}

/** No digit, a leading zero, or -0. */
function hasWrongZero(bytes: Uint8Array, first: number, end: number, negative: boolean): boolean {
  return end === first || (bytes[first] === byte.zero && (end > first + 1 || negative));
}

function isDigit(value = 0): boolean {
  return value >= byte.zero && value <= byte.nine;
}

function storeQuantity({ quantities, length }: ItemColumns, quantity: number, negative: boolean): void {
  quantities[length] = negative ? 0 - quantity : quantity;
}

/** The id is `high` with `count` digits behind it, which are `low`. */
function storeId(
  { heads, tails, length }: ItemColumns,
  high: number,
  low: number,
  count: number,
  negative: boolean,
): void {
  // Of nine digits in front, as many belong to the head as there are others.
  const divisor = powers[fewDigits - count] ?? 1;
  const head = count === 0 ? 0 : (high / divisor) | 0;
  const tail = (high - head * divisor) * (powers[count] ?? 1) + low;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
}

/** The id is the nine digits of `high`, the nine of `low`, and one at `last`. */
function readLongestId(
  bytes: Uint8Array,
  last: number,
  { heads, tails, length }: ItemColumns,
  high: number,
  low: number,
  negative: boolean,
): number {
  const first = Math.floor(low / 1e8);
  const head = high * 10 + first;
  if (head > largestHead) return notPlain;
  const tail = (low - first * 1e8) * 10 + (bytes[last] ?? 0) - byte.zero;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
  // A digit that follows is nothing that may follow an id.
  return last + 1;
}
