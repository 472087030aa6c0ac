/** In bytes: large enough that a write costs nothing beside its content, small enough for the memory. */
const pieceSize = 256 * 1024;

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

/** The most bytes that a number and what is written past it take. */
export const numberRoom = 28;

/** A text as bytes, written eight at a time. */
export interface Cell {
  /** In bytes. */
  readonly length: number;
  readonly first: number;
  readonly others: Float64Array;
}

export function cellOf(text: string): Cell {
  const { length } = Buffer.from(text);
  const whole = Buffer.alloc(8 * Math.max(1, Math.ceil(length / 8)), text);
  const [first = 0, ...others] = Array.from({ length: whole.length / 8 }, (_, index) => whole.readDoubleLE(8 * index));
  return { length, first, others: Float64Array.from(others) };
}

/** Writes it, and up to eight bytes after it that mean nothing. @returns where it ends */
export function write(cell: Cell, out: DataView, at: number): number {
  out.setFloat64(at, cell.first, true);
  if (cell.length > 8) writeOthers(cell.others, out, at + 8);
  return at + cell.length;
}

function writeOthers(others: Float64Array, out: DataView, at: number): void {
  for (let index = 0; index < others.length; index += 1) out.setFloat64(at + 8 * index, others[index] as number, true);
}

/** The two digits of each number below a hundred, the first in the lower byte. */
const pairs = Uint16Array.from({ length: 100 }, (_, number) => 0x3030 + Math.floor(number / 10) + ((number % 10) << 8));

/** Returns a number below ten thousand as four digits, the first in the lowest byte. */
function fourOf(number: number): number {
  const high = (number / 100) | 0;
  return (pairs[high] as number) | ((pairs[number - 100 * high] as number) << 16);
}

/** Writes a safe integer in digits, and up to three bytes after them that mean nothing. @returns where it ends */
export function writeInteger(integer: number, out: DataView, at: number): number {
  if (integer < 0) {
    out.setUint8(at, 0x2d);
    return writeInteger(-integer, out, at + 1);
  }
  if (integer >= 10_000) {
    const high = Math.floor(integer / 10_000);
    const to = writeInteger(high, out, at);
    out.setInt32(to, fourOf(integer - 10_000 * high), true);
    return to + 4;
  }
  const digits = integer < 10 ? 1 : integer < 100 ? 2 : integer < 1000 ? 3 : 4;
  out.setInt32(at, fourOf(integer) >>> (8 * (4 - digits)), true);
  return at + digits;
}

/** Writes head x 10^9 + tail, both of the same sign. @returns where it ends */
export function writePetId(head: number, tail: number, out: DataView, at: number): number {
  if (head === 0) return writeInteger(tail, out, at);
  const to = writeInteger(head, out, at);
  const low = Math.abs(tail);
  const first = Math.floor(low / 100_000_000);
  const middle = Math.floor((low - 100_000_000 * first) / 10_000);
  out.setUint8(to, 0x30 + first);
  out.setInt32(to + 1, fourOf(middle), true);
  out.setInt32(to + 5, fourOf(low - 100_000_000 * first - 10_000 * middle), true);
  return to + 9;
}
