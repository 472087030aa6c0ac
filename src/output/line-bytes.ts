import { slack } from './digits.ts';
import type { InventoryField } from './view.ts';

/** How items become lines. */
export interface ItemLineFormat {
  /** The cells of a line, in this order, and the text before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** After the last cell, with the line end. */
  readonly end: string;
  /** Ids are padded with spaces before them to so many characters. */
  readonly idWidth?: number;
  /** A quantity, if it is more than its digits. */
  quantity?(quantity: number, status: string): string;
  status(status: string): string;
  /** Spaces before the line end are left out. */
  readonly trimmed?: boolean;
}

/** The bytes of a piece that is being filled. */
export class Piece {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  length = 0;

  constructor(readonly capacity: number) {
    this.bytes = new Uint8Array(capacity + slack);
    this.view = new DataView(this.bytes.buffer);
  }

  get room(): number {
    return this.capacity - this.length;
  }
}

/** A text as bytes, written four at a time. */
export class Cell {
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
