import type { CopySelection, SeenIds } from '../inventory/item-columns.ts';
import { petStatuses } from '../inventory/items.ts';
import { type Cell, cellOf, numberRoom, type Piece, write } from './line-bytes.ts';
import type { InventoryField } from './view.ts';

export interface ItemLineFormat {
  /** The cells of a line, in this order, and the text before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** After the last cell, with the line end. */
  readonly end: string;
  status(status: string): string;
}

/**
 * The text around the values of an item to which the service has added nothing, as doubles of eight bytes: these are equal whenever their
 * bytes are, but for zeros.
 */
const eight = (text: string) => Buffer.from(text).readDoubleLE();
const itemStart = '{"petId":';
const [idStart, idEnd] = [eight('{"petId"'), eight('"petId":')];
const quantityText = ',"quantity":';
const [quantityStart, quantityEnd] = [eight(',"quanti'), eight('antity":')];
const statusStart = eight(',"status');

const zeros = 0x30303030;
const billion = 1_000_000_000;
const powers = [1, 10, 100, 1000];

/** A status with what stands around it, up to the id of the next item: `,"status":"sold"},{"petId":`, of which these are eight bytes each. */
interface KnownStatus {
  readonly length: number;
  /** From the ninth on. */
  readonly second: number;
  /** Before the last. */
  readonly third: number;
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
      const text = `,"status":"${name}"},${itemStart}`;
      const [second, third] = [eight(text.slice(8)), eight(text.slice(-16))];
      this.#statuses[name.charCodeAt(0) & 31] = {
        length: text.length,
        second,
        third,
        cell: isLeftOut ? undefined : cell,
      };
    }
    this.longest = this.#beforeId.length + this.#beforeQuantity.length + longest + 2 * numberRoom;
  }

  /**
   * Copies the items from `start` on that another one follows, with nothing but a comma between two, while there is room.
   * @param body must end with a zero byte and 16 more of any kind
   * @returns where the last item that was copied ends, or `start`
   */
  copy(piece: Piece, body: DataView, start: number): number {
    if (body.getFloat64(start, true) !== idStart || body.getFloat64(start + 1, true) !== idEnd) return start;
    const most = piece.capacity - this.longest;
    const first = start + itemStart.length;
    this.#lineEnd = piece.length;
    let at = first;
    while (this.#lineEnd <= most) {
      const next = this.#copyItem(body, at, piece.view, this.#lineEnd);
      if (next === at) break;
      at = next;
      this.count += 1;
    }
    this.#tellSeen();
    piece.length = this.#lineEnd;
    // Before the comma.
    return at === first ? start : at - itemStart.length - 1;
  }

  /** @param start of its id. @returns where the id of the next one begins, or `start` if it is not copied */
  #copyItem(body: DataView, start: number, out: DataView, lineStart: number): number {
    let at = start;
    let to = write(this.#beforeId, out, lineStart);
    let four = copyFour(body, at, out, to);
    const initial = four & 0xff;
    let digits = 0;
    let front = 0;
    let middle = 0;
    let tail = 0;
    while (othersOf(four) === 0 && digits < 16) {
      front = (Math.imul(front, 10_000) + middle) | 0;
      middle = tail;
      tail = numberOf(four);
      digits += 4;
      four = copyFour(body, at + digits, out, to + digits);
    }
    const more = leadingDigits(four);
    if (more > 0) tail = (Math.imul(tail, powers[more] as number) + numberOf((four << 8) << (24 - 8 * more))) | 0;
    digits += more;
    at += digits;
    if (!isId(digits, initial)) return start;
    if (body.getFloat64(at, true) !== quantityStart || body.getFloat64(at + 4, true) !== quantityEnd) return start;
    at += quantityText.length;
    to = write(this.#beforeQuantity, out, to + digits);
    four = copyFour(body, at, out, to);
    digits = leadingDigits(four);
    if (digits === 4) digits += leadingDigits(copyFour(body, at + 4, out, to + 4));
    at += digits;
    if (!isQuantity(digits, four & 0xff) || body.getFloat64(at, true) !== statusStart) return start;
    const status = this.#statuses[body.getUint8(at + 11) & 31];
    if (status === undefined || body.getFloat64(at + 8, true) !== status.second) return start;
    at += status.length;
    if (body.getFloat64(at - 16, true) !== status.third || body.getFloat64(at - 8, true) !== idEnd) return start;
    if (!this.#isNew(front, middle, tail, more)) return start;
    if (status.cell !== undefined) this.#lineEnd = write(status.cell, out, to + digits);
    return at;
  }

  /** Takes an id. @returns whether it was not there before */
  #isNew(front: number, middle: number, tail: number, more: number): boolean {
    const isNear = front === this.#front && middle === this.#middle && more === this.#more;
    if (isNear && this.#step > 0 && tail === this.#tail + this.#step) this.#followed += 1;
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
