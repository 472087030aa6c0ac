import type { CopySelection, SeenIds } from '../inventory/item-columns.ts';
import { petStatuses } from '../inventory/items.ts';
import { type CopyKernel, cell, memory, openCopyKernel, status as statusPart } from './copy-kernel.ts';
import type { InventoryField } from './view.ts';

export interface ItemLineFormat {
  /** The cells of a line, in this order, and the text before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** After the last cell, with the line end. */
  readonly end: string;
  status(status: string): string;
}

const itemStart = '{"petId":';
/** The most bytes that a number and what is written past it take. */
const numberRoom = 28;

/**
 * Copies items from the bytes of a list to lines, without an object on the way: those that are spelled in the shortest way, and have no sign
 * and no unusually large quantity. It stops at every other one, which may be legal and is for the reader.
 */
export class CopiedItems {
  /** Where the bytes of the list have to stand, with a zero byte after them. */
  readonly window: Uint8Array;
  readonly lines: Buffer;
  /** Where the last line ends that was copied. */
  end = 0;
  /** The most bytes of a line, and of what is written past it. */
  readonly longest: number;
  readonly #kernel: CopyKernel;
  readonly #bytes: Buffer;
  readonly #beforeId: string;
  readonly #seen: SeenIds;

  constructor({ cells, end, status }: ItemLineFormat, { statuses, seen }: CopySelection) {
    this.#kernel = openCopyKernel();
    const { buffer } = this.#kernel.m;
    this.#bytes = Buffer.from(buffer);
    // Not a Buffer: a slice of that would be no copy.
    this.window = new Uint8Array(buffer, memory.input, memory.lines - memory.input);
    this.lines = this.#bytes.subarray(memory.lines);
    this.#seen = seen;
    const [id = '', quantity = '', last = ''] = cells.map(({ before }) => before);
    this.#beforeId = id;
    for (let power = 0; power <= 8; power += 1) {
      this.#bytes.writeBigInt64LE(10n ** BigInt(power), memory.powers + 8 * power);
    }
    this.#writeCell(memory.quantity, quantity);
    this.#bytes.fill(0xff, memory.statuses, memory.input);
    let longest = 0;
    for (const name of petStatuses) {
      const isLeftOut = statuses?.has(name) === false;
      const text = `,"status":"${name}"},${itemStart}`;
      const place = memory.statuses + memory.statusSize * (name.charCodeAt(0) & 31);
      this.#bytes.writeInt32LE(text.length, place + statusPart.length);
      this.#bytes.write(text.slice(8, 16), place + statusPart.second);
      this.#bytes.write(text.slice(-16, -8), place + statusPart.third);
      // With what the next line begins with.
      const rest = isLeftOut ? '' : `${last}${status(name)}${end}${id}`;
      longest = Math.max(longest, this.#writeCell(place + statusPart.cell, rest));
    }
    this.longest = Buffer.byteLength(id + quantity) + longest + 2 * numberRoom;
  }

  /** How many items were copied or left out. */
  get count(): number {
    return this.#bytes.readInt32LE(memory.count);
  }

  /**
   * Copies the items from `start` of the window on that another one follows, with nothing but a comma between two, while there is room.
   * @param to where the lines go, with room for the longest
   * @returns where the last item that was copied ends, or `start`
   */
  copy(start: number, to: number): number {
    const bytes = this.#bytes;
    this.end = to;
    const first = memory.input + start + itemStart.length;
    if (this.#bytes.toString('latin1', memory.input + start, first) !== itemStart) return start;
    let at = first;
    let line = memory.lines + to + this.lines.write(this.#beforeId, to);
    // Others may have been taken since the last.
    let [head, tail, step, followed] = [-1, 0, 0, 0];
    for (;;) {
      const before = this.count;
      at = this.#kernel.c(at, line, bytes.length - this.longest, head, tail, step);
      line = bytes.readInt32LE(memory.line);
      const isAsked = bytes.readInt32LE(memory.isAsked) === 1;
      followed = this.count - before - (head < 0 ? 0 : 1);
      if (followed > 0) this.#seen.goOn(followed);
      if (!isAsked) break;
      head = bytes.readDoubleLE(memory.head);
      tail = bytes.readInt32LE(memory.tail);
      if (!this.#seen.add(head, tail)) break;
      step = this.#seen.stepFrom(head, tail);
    }
    this.end = line - memory.lines - Buffer.byteLength(this.#beforeId);
    // Before the comma.
    return at === first ? start : at - itemStart.length - 1 - memory.input;
  }

  /** Returns its length. */
  #writeCell(place: number, text: string): number {
    const length = Buffer.byteLength(text);
    this.#bytes.writeInt32LE(length, place + cell.length);
    this.#bytes.write(text, place + cell.bytes);
    return length;
  }
}

/** Reports whether the lines of a format can be copied: id, quantity and status in this order, as they are. */
export function canCopy({ cells }: ItemLineFormat): boolean {
  return cells.map(({ field }) => field).join() === 'petId,quantity,status';
}
