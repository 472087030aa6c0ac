import type { ColumnBatches, ItemColumns, StatusNames } from '../inventory/item-columns.ts';
import { type Cell, cellOf, numberRoom, Piece, write, writeInteger, writePetId } from './line-bytes.ts';
import type { InventoryField } from './view.ts';

export interface ItemLineFormat {
  /** The cells of a line, in this order, and the text before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** After the last cell, with the line end. */
  readonly end: string;
  status(status: string): string;
}

/** Pieces that were given away and may be in use, beside the one that is filled: one is being written, and JSON holds one back. */
const maxInUse = 2;

/** Returns items as bytes of whole lines, in large pieces. Each is overwritten once two more have been taken and the next is asked for. */
export async function* itemPieces(batches: ColumnBatches, format: ItemLineFormat): AsyncGenerator<Uint8Array> {
  const lines = new ItemLines(format);
  for await (const batch of batches) yield* lines.pieces(batch);
  yield* lines.rest();
}

/** Writes items as lines, without an object for each. */
class ItemLines {
  #piece = new Piece();
  /** Those that were given away last, oldest first. */
  readonly #given: Piece[] = [];
  readonly #cells: readonly { readonly field: InventoryField; readonly before: Cell }[];
  readonly #end: Cell;
  /** Whose texts are known, and these by their code. */
  #names: StatusNames | undefined;
  #statuses: Cell[] = [];
  /** The most bytes of a line beside its status, and of what is written past it. */
  readonly #longest: number;

  constructor(private readonly format: ItemLineFormat) {
    this.#cells = format.cells.map(({ field, before }) => ({ field, before: cellOf(before) }));
    this.#end = cellOf(format.end);
    const roomOf = ({ length }: Cell) => length + numberRoom;
    this.#longest = this.#cells.reduce((sum, { before }) => sum + roomOf(before), roomOf(this.#end));
  }

  *pieces(batch: ItemColumns): Generator<Uint8Array> {
    this.#learnStatuses(batch.statuses);
    for (let index = 0; index < batch.length; index += 1) {
      const status = this.#statuses[batch.statusCodes[index] as number] as Cell;
      const longest = this.#longest + status.length;
      if (longest > this.#piece.room) yield* this.rest();
      if (longest > this.#piece.room) this.#piece = new Piece(longest);
      this.#write(batch, index, status);
    }
  }

  /** Appends the line of an item. */
  #write({ heads, tails, quantities }: ItemColumns, index: number, status: Cell): void {
    const { view, length } = this.#piece;
    let to = length;
    for (const { field, before } of this.#cells) {
      to = write(before, view, to);
      if (field === 'petId') to = writePetId(heads[index] as number, tails[index] as number, view, to);
      else if (field === 'quantity') to = writeInteger(quantities[index] as number, view, to);
      else to = write(status, view, to);
    }
    this.#piece.length = write(this.#end, view, to);
  }

  #learnStatuses(names: StatusNames): void {
    if (names !== this.#names) this.#statuses = [];
    this.#names = names;
    while (this.#statuses.length < names.size) {
      this.#statuses.push(cellOf(this.format.status(names.textOf(this.#statuses.length))));
    }
  }

  /** Returns the lines that have not filled a piece. */
  *rest(): Generator<Uint8Array> {
    const { bytes, length } = this.#piece;
    if (length === 0) return;
    const spare = this.#given.length < maxInUse ? undefined : this.#given.shift();
    this.#given.push(this.#piece);
    this.#piece = spare ?? new Piece();
    this.#piece.length = 0;
    yield bytes.subarray(0, length);
  }
}
