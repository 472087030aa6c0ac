import type { CopySelection, SeenIds } from '../inventory/item-columns.ts';
import { petStatuses } from '../inventory/items.ts';
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

/** The bytes of a piece that is being filled. */
export class Piece {
  readonly bytes: Buffer;
  readonly view: DataView;
  length = 0;

  constructor(readonly capacity = pieceSize) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
    this.view = new DataView(this.bytes.buffer);
  }

  get room(): number {
    return this.capacity - this.length;
  }
}

/** A text of 8 to 16 bytes of an item, compared by eight from each end: as doubles, which are equal whenever their bytes are, but for zeros. */
interface Fragment {
  readonly length: number;
  readonly first: number;
  readonly last: number;
}

function fragment(text: string): Fragment {
  const bytes = Buffer.from(text);
  return { length: text.length, first: bytes.readDoubleLE(0), last: bytes.readDoubleLE(text.length - 8) };
}

function isAt({ length, first, last }: Fragment, body: DataView, at: number): boolean {
  return body.getFloat64(at, true) === first && body.getFloat64(at + length - 8, true) === last;
}

/** The text around the values of an item to which the service has added nothing. */
const beforeId = fragment('{"petId":');
const beforeQuantity = fragment(',"quantity":');
const beforeStatus = fragment(',"status"');

const comma = 0x2c;
const zeros = 0x30303030;
const billion = 1_000_000_000;
const powers = [1, 10, 100, 1000];
/** The most bytes that a number and what is written past it take. */
const numberRoom = 28;

/** A status, with what is around it: `:"sold"}`. */
interface KnownStatus {
  readonly text: Fragment;
  /** What stands in a line in its place, with the line end; undefined if lines with it are left out. */
  readonly cell: Cell | undefined;
}

/**
 * Copies items from the bytes of a list to lines, without an object on the way: those that are spelled in the shortest way, and have no sign
 * and no unusually large quantity. It stops at every other one, which may be legal and is for the reader.
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
  readonly #seen: SeenIds;
  #lineEnd = 0;
  // The last id: its tail is its last four digits, or up to seven; before these are four in the middle, and the front.
  #front = 0;
  #middle = 0;
  #tail = 0;
  /** How many more than four digits are in the tail. */
  #more = 0;
  /** How far the next tail is from the last if ids go on as before; 0: not known. */
  #step = 0;
  /** How many ids went on so since `#seen` was told. */
  #followed = 0;

  constructor({ cells, end, status }: ItemLineFormat, { statuses, seen }: CopySelection) {
    this.#seen = seen;
    const [id, quantity, last] = cells.map(({ before }) => before);
    this.#beforeId = cellOf(id ?? '');
    this.#beforeQuantity = cellOf(quantity ?? '');
    let longest = 0;
    for (const name of petStatuses) {
      const cell = cellOf(`${last}${status(name)}${end}`);
      longest = Math.max(longest, cell.length);
      const isLeftOut = statuses?.has(name) === false;
      this.#statuses[name.charCodeAt(0) & 31] = { text: fragment(`:"${name}"}`), cell: isLeftOut ? undefined : cell };
    }
    this.longest = this.#beforeId.length + this.#beforeQuantity.length + longest + 2 * numberRoom;
  }

  /**
   * Copies the items from `start` on, with nothing but a comma between two, while there is room.
   * @param body must end with a zero byte and 16 more of any kind
   * @returns where the last item that was copied ends, or `start`
   */
  copy(piece: Piece, body: DataView, start: number): number {
    const most = piece.capacity - this.longest;
    this.#lineEnd = piece.length;
    let copied = start;
    for (let at = start; this.#lineEnd <= most; at = copied + 1) {
      const end = this.#copyItem(body, at, piece.view, this.#lineEnd);
      if (end === at) break;
      copied = end;
      this.count += 1;
      if (body.getUint8(end) !== comma) break;
    }
    this.#tellSeen();
    piece.length = this.#lineEnd;
    return copied;
  }

  /** @returns where the item ends, or `start` if it is not copied */
  #copyItem(body: DataView, start: number, out: DataView, lineStart: number): number {
    if (!isAt(beforeId, body, start)) return start;
    let at = start + beforeId.length;
    let to = write(this.#beforeId, out, lineStart);
    let four = copyFour(body, at, out, to);
    const initial = four & 0xff;
    let [digits, front, middle, tail] = [0, 0, 0, 0];
    while (othersOf(four) === 0 && digits < 16) {
      front = (Math.imul(front, 10_000) + middle) | 0;
      middle = tail;
      tail = numberOf(four);
      digits += 4;
      four = copyFour(body, at + digits, out, to + digits);
    }
    const more = leadingDigits(four);
    tail = (Math.imul(tail, powers[more] ?? 1) + numberOf((four << 8) << (24 - 8 * more))) | 0;
    digits += more;
    at += digits;
    if (!isId(digits, initial) || !isAt(beforeQuantity, body, at)) return start;
    at += beforeQuantity.length;
    to = write(this.#beforeQuantity, out, to + digits);
    four = copyFour(body, at, out, to);
    digits = leadingDigits(four);
    if (digits === 4) digits += leadingDigits(copyFour(body, at + 4, out, to + 4));
    at += digits;
    if (!isQuantity(digits, four & 0xff) || !isAt(beforeStatus, body, at)) return start;
    at += beforeStatus.length;
    const status = this.#statuses[body.getUint8(at + 2) & 31];
    if (status === undefined || !isAt(status.text, body, at) || !this.#isNew(front, middle, tail, more)) return start;
    if (status.cell !== undefined) this.#lineEnd = write(status.cell, out, to + digits);
    return at + status.text.length;
  }

  /** Takes an id. @returns whether it was not there before */
  #isNew(front: number, middle: number, tail: number, more: number): boolean {
    const isNear = front === this.#front && middle === this.#middle && more === this.#more;
    const goesOn = isNear && this.#step > 0 && tail === this.#tail + this.#step;
    if (goesOn) this.#followed += 1;
    else if (!this.#add(front, middle, tail, more)) return false;
    this.#tail = tail;
    return true;
  }

  #add(front: number, middle: number, tail: number, more: number): boolean {
    this.#tellSeen();
    const power = powers[more] ?? 1;
    const high = Math.floor(front / 10);
    const low = ((front - 10 * high) * 10_000 + middle) * 10_000 * power + tail;
    const carry = Math.floor(low / billion);
    const [idHead, idTail] = [high * power + carry, low - carry * billion];
    if (!this.#seen.add(idHead, idTail)) return false;
    [this.#front, this.#middle, this.#more] = [front, middle, more];
    this.#step = this.#seen.stepFrom(idHead, idTail);
    return true;
  }

  #tellSeen(): void {
    this.#seen.goOn(this.#followed);
    this.#followed = 0;
    // Others may be taken before the next.
    this.#step = 0;
  }
}

/** Reports whether the lines of a format can be copied: id, quantity and status in this order, as they are. */
export function canCopy({ cells }: ItemLineFormat): boolean {
  return cells.map(({ field }) => field).join() === 'petId,quantity,status';
}

/** Reports whether so many digits, up to 20, are an int64 in its shortest form: of 19 they are if they do not begin with a 9. */
function isId(digits: number, initial: number): boolean {
  if (digits === 0 || (initial === 0 && digits > 1)) return false;
  return digits < 19 || (digits === 19 && initial < 9);
}

/** Reports whether so many digits, up to 8, of which there may be more, are a number in its shortest form. */
function isQuantity(digits: number, initial: number): boolean {
  return digits > 0 && digits < 8 && (initial > 0 || digits === 1);
}

/** Copies four bytes. @returns them as digits, the first in the lowest byte */
function copyFour(body: DataView, at: number, out: DataView, to: number): number {
  const four = body.getInt32(at, true);
  out.setInt32(to, four, true);
  return four ^ zeros;
}

/** The high bit of each byte that is no digit; a carry can only go to a higher byte, after the first of those. */
function othersOf(four: number): number {
  return ((four + 0x76767676) | four) & 0x80808080;
}

/** Returns how many of four bytes are digits, up to the first that is none. */
function leadingDigits(four: number): number {
  const others = othersOf(four);
  return (32 - Math.clz32((others & -others) - 1)) >> 3;
}

/** Returns the number that four digits are. */
function numberOf(four: number): number {
  const pairs = Math.imul(four, 10) + (four >>> 8);
  return (pairs & 0xff) * 100 + ((pairs >>> 16) & 0xff);
}

/** A text as bytes, written four at a time. */
interface Cell {
  /** In bytes. */
  readonly length: number;
  readonly words: Int32Array;
}

function cellOf(text: string): Cell {
  const { length } = Buffer.from(text);
  const whole = Buffer.alloc(4 * Math.ceil(length / 4), text);
  const words = Int32Array.from({ length: whole.length / 4 }, (_, index) => whole.readInt32LE(4 * index));
  return { length, words };
}

/** Writes it, and up to three bytes after it that mean nothing. @returns where it ends */
function write({ length, words }: Cell, out: DataView, at: number): number {
  for (let index = 0; index < words.length; index += 1) out.setInt32(at + 4 * index, words[index] ?? 0, true);
  return at + length;
}
