import type { CopySelection } from '../inventory/item-columns.ts';
import { type PetStatus, petStatuses } from '../inventory/items.ts';
import type { InventoryField } from './view.ts';

export interface ItemLineFormat {
  /** The cells of a line, in this order, and the text before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** After the last cell, with the line end. */
  readonly end: string;
  status(status: string): string;
}

/** In bytes: large enough that a write costs nothing beside its content, small enough for the memory. */
const pieceSize = 128 * 1024;
/** Writing four bytes at a time may write so many behind the last that mean nothing. */
const slack = 3;

/** The bytes of a piece that is being filled. */
export class Piece {
  readonly bytes: Buffer;
  readonly view: DataView;
  length = 0;

  constructor(readonly capacity = pieceSize) {
    this.bytes = Buffer.allocUnsafeSlow(capacity + slack);
    this.view = new DataView(this.bytes.buffer);
  }

  get room(): number {
    return this.capacity - this.length;
  }
}

/** A word of four bytes, as it is compared with those of a body. */
const word = (text: string, at = 0) => Buffer.from(text).readInt32LE(at);

/** The text around the values of an item to which the service has added nothing. */
const [idName, quantityName, statusName] = ['{"petId":', ',"quantity":', ',"status":"'] as const;
const beforeId = [word(idName), word(idName, 4)] as const;
const beforeQuantity = [word(quantityName), word(quantityName, 4), word(quantityName, 8)] as const;
const beforeStatus = [word(statusName), word(statusName, 4), word(statusName, 7)] as const;

const byte = { comma: 0x2c, minus: 0x2d, zero: 0x30, nine: 0x39, colon: 0x3a } as const;
const zeros = 0x30303030;

/** Ids of so many digits are int64, whatever they are; one more may be, if it does not begin with a 9. */
const mostIdDigits = 18;
/** Quantities of so many digits are safe integers. */
const mostQuantityDigits = 15;
/** So many digits are no number that is copied. */
const tooManyDigits = 20;
/** The most bytes that a number and what is written past it take. */
const numberRoom = tooManyDigits + 8;

/** A status, with the quote and the brace after it, in three words that may overlap. */
interface KnownStatus {
  readonly length: number;
  readonly first: number;
  readonly middleAt: number;
  readonly middle: number;
  readonly last: number;
  /** The bytes of a line in its place, with the line end; undefined if lines with it are left out. */
  readonly cell: Cell | undefined;
}

/**
 * Copies items from the bytes of a list to lines, without a number or an object on the way: those that are spelled in the
 * shortest way. It stops at every other one, which may be legal and is for the reader.
 */
export class CopiedItems {
  /** How many items were copied or left out. */
  count = 0;
  /** The most bytes of a line, and of what is written past it. */
  readonly longest: number;
  readonly #beforeId: Cell;
  readonly #beforeQuantity: Cell;
  /** By the first letter. */
  readonly #statuses: (KnownStatus | undefined)[] = Array.from({ length: 32 });

  readonly #selection: CopySelection;

  constructor({ cells, end, status }: ItemLineFormat, selection: CopySelection) {
    this.#selection = selection;
    const [id, quantity, last] = cells.map(({ before }) => before);
    this.#beforeId = new Cell(id ?? '');
    this.#beforeQuantity = new Cell(quantity ?? '');
    let longest = 0;
    for (const name of petStatuses) {
      const cell = new Cell(`${last}${status(name)}${end}`);
      longest = Math.max(longest, cell.length);
      this.#statuses[name.charCodeAt(0) & 31] = knownStatus(
        name,
        selection.statuses?.has(name) === false ? undefined : cell,
      );
    }
    this.longest = this.#beforeId.length + this.#beforeQuantity.length + longest + 2 * numberRoom;
  }

  /**
   * Copies the items from `start` on, with nothing but a comma between two, while there is room.
   * @param bytes must end with a zero byte and 16 more of any kind
   * @param view of the same bytes
   * @returns where the last item that was copied ends, or `start`
   */
  copy(piece: Piece, bytes: Uint8Array, view: DataView, start: number): number {
    const out = piece.view;
    const most = piece.capacity - this.longest;
    const selection = this.#selection;
    let [at, copied, lineStart] = [start, start, piece.length];
    while (lineStart <= most && isAtId(bytes, view, at)) {
      at += idName.length;
      const idStart = at;
      let to = this.#beforeId.write(out, lineStart);
      const idEnd = copyInteger(bytes, view, at, out, to, true);
      if (idEnd === at || !isAt(view, idEnd, beforeQuantity, 8)) break;
      to = this.#beforeQuantity.write(out, to + idEnd - at);
      at = idEnd + quantityName.length;
      const quantityEnd = copyInteger(bytes, view, at, out, to, false);
      if (quantityEnd === at || !isAt(view, quantityEnd, beforeStatus, 7)) break;
      to += quantityEnd - at;
      at = quantityEnd + statusName.length;
      const status = this.#statuses[(bytes[at] ?? 0) & 31];
      if (status === undefined || !isStatus(view, at, status)) break;
      at += status.length;
      if (!isNewPet(bytes, view, idStart, idEnd, selection)) break;
      if (status.cell !== undefined) lineStart = status.cell.write(out, to);
      this.count += 1;
      copied = at;
      if (bytes[at] !== byte.comma) break;
      at += 1;
    }
    piece.length = lineStart;
    return copied;
  }
}

/** Reports whether the lines of a format can be copied: id, quantity and status in this order, as they are. */
export function canCopy({ cells }: ItemLineFormat): boolean {
  return cells.map(({ field }) => field).join() === 'petId,quantity,status';
}

function knownStatus(name: PetStatus, cell: Cell | undefined): KnownStatus {
  const text = `${name}"}`;
  const middleAt = Math.min(4, text.length - 4);
  const { length } = text;
  return { length, first: word(text), middleAt, middle: word(text, middleAt), last: word(text, length - 4), cell };
}

function isAtId(bytes: Uint8Array, view: DataView, at: number): boolean {
  return (
    view.getInt32(at, true) === beforeId[0] &&
    view.getInt32(at + 4, true) === beforeId[1] &&
    bytes[at + 8] === byte.colon
  );
}

/** Three words: two beside each other, and one at `lastAt`. They are compared in order, so no word past the end is read. */
function isAt(view: DataView, at: number, words: readonly [number, number, number], lastAt: number): boolean {
  return (
    view.getInt32(at, true) === words[0] &&
    view.getInt32(at + 4, true) === words[1] &&
    view.getInt32(at + lastAt, true) === words[2]
  );
}

function isStatus(view: DataView, at: number, { first, middleAt, middle, last, length }: KnownStatus): boolean {
  return (
    view.getInt32(at, true) === first &&
    view.getInt32(at + middleAt, true) === middle &&
    view.getInt32(at + length - 4, true) === last
  );
}

/** @returns where the integer ends, or `start` if it has to be read: it is long, or not in its shortest form */
function copyInteger(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  out: DataView,
  to: number,
  isId: boolean,
): number {
  const sign = bytes[start] === byte.minus ? 1 : 0;
  if (sign === 1) out.setUint8(to, byte.minus);
  const at = start + sign;
  const count = copyDigits(view, at, out, to + sign);
  const first = bytes[at] ?? 0;
  if (count === 0 || (first === byte.zero && count + sign > 1)) return start;
  if (!isId) return count > mostQuantityDigits ? start : at + count;
  const fits = count <= mostIdDigits || (count === mostIdDigits + 1 && first < byte.nine);
  return fits ? at + count : start;
}

function isNewPet(bytes: Uint8Array, view: DataView, start: number, end: number, selection: CopySelection): boolean {
  const isNegative = bytes[start] === byte.minus;
  const first = isNegative ? start + 1 : start;
  const tailAt = Math.max(first, end - 9);
  const [head, tail] = [digitsAt(view, first, tailAt), digitsAt(view, tailAt, end)];
  return isNegative ? selection.isNew(0 - head, 0 - tail) : selection.isNew(head, tail);
}

/** Returns the number that the digits are, of which there are at most ten. */
function digitsAt(view: DataView, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 4) {
    const count = Math.min(4, end - at);
    // The first digit is the lowest byte. Those past the end fall off, and zeros stand in front.
    const digits = (view.getInt32(at, true) ^ zeros) << (32 - 8 * count);
    const pairs = Math.imul(digits, 10) + (digits >>> 8);
    value = value * (powers[count] ?? 1) + (pairs & 0xff) * 100 + ((pairs >>> 16) & 0xff);
  }
  return value;
}

const powers = [1, 10, 100, 1000, 10_000];

/** Copies up to the first byte that is no digit, four at a time. @returns how many digits there are, or too many */
function copyDigits(view: DataView, at: number, out: DataView, to: number): number {
  for (let count = 0; count <= tooManyDigits; count += 4) {
    const four = view.getInt32(at + count, true);
    out.setInt32(to + count, four, true);
    // The high bit of each byte that is no digit; a carry can only go to a higher byte, after the first of those.
    const digits = four ^ zeros;
    const others = ((digits + 0x76767676) | digits) & 0x80808080;
    if (others !== 0) return count + ((31 - Math.clz32(others & -others)) >> 3);
  }
  return tooManyDigits;
}

/** A text as bytes, written four at a time. */
class Cell {
  /** In bytes. */
  readonly length: number;
  readonly #words: Uint32Array;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    const whole = Buffer.concat([bytes], 4 * Math.ceil(bytes.length / 4));
    this.#words = Uint32Array.from({ length: whole.length / 4 }, (_, index) => whole.readUInt32LE(4 * index));
  }

  /** Writes it, and up to `slack` bytes after it that mean nothing. @returns where it ends */
  write(out: DataView, at: number): number {
    const words = this.#words;
    for (let index = 0; index < words.length; index += 1) out.setUint32(at + 4 * index, words[index] ?? 0, true);
    return at + this.length;
  }
}
