import type { ColumnBatches, CopySelection, ItemColumns, ItemWriter } from '../inventory/item-columns.ts';
import { CopiedItems, canCopy, type ItemLineFormat, Piece } from './copied-items.ts';

export type { ItemLineFormat };

/** A code unit takes so many bytes of UTF-8 at most. */
const longestUnit = 3;
/** Lines that become bytes together. */
const linesAtOnce = 512;

/** Pieces that were given away and may be in use, beside the one that is filled: one is being written, and JSON holds one back. */
const mostInUse = 2;

/** Returns items as bytes of whole lines, in large pieces. Each is overwritten once two more have been taken and the next is asked for. */
export async function* itemPieces(batches: ColumnBatches, format: ItemLineFormat): AsyncGenerator<Uint8Array> {
  const lines = new ItemLines(format);
  if (batches.copied !== undefined && canCopy(format)) yield* batches.copied(lines);
  else for await (const batch of batches) yield* lines.pieces(batch);
  yield* lines.rest();
}

/** Writes items as lines: without an object for each, or copied as they stand in JSON. */
export class ItemLines implements ItemWriter {
  #piece = new Piece();
  /** Those that were given away last, oldest first. */
  readonly #given: Piece[] = [];
  #copied: CopiedItems;

  constructor(private readonly format: ItemLineFormat) {
    this.#copied = new CopiedItems(format, { seen: { add: () => true, stepFrom: () => 0, goOn: () => {} } });
  }

  get copiedItems(): number {
    return this.#copied.count;
  }

  get isFull(): boolean {
    return this.#piece.room < this.#copied.longest;
  }

  restart(selection: CopySelection): void {
    this.#piece.length = 0;
    this.#copied = new CopiedItems(this.format, selection);
  }

  copy(body: DataView, start: number): number {
    return this.#copied.copy(this.#piece, body, start);
  }

  *pieces(batch: ItemColumns): Generator<Uint8Array> {
    const line = lineWriter(this.format, batch);
    for (let from = 0; from < batch.length; from += linesAtOnce) {
      let text = '';
      for (let index = from; index < Math.min(batch.length, from + linesAtOnce); index += 1) text += line(index);
      const most = longestUnit * text.length;
      if (most > this.#piece.room) yield* this.rest();
      if (most > this.#piece.room) this.#piece = new Piece(most);
      this.#piece.length += this.#piece.bytes.write(text, this.#piece.length);
    }
  }

  /** Returns the lines that have not filled a piece. */
  *rest(): Generator<Uint8Array> {
    const { bytes, length } = this.#piece;
    if (length === 0) return;
    const spare = this.#given.length < mostInUse ? undefined : this.#given.shift();
    this.#given.push(this.#piece);
    this.#piece = spare ?? new Piece();
    this.#piece.length = 0;
    yield bytes.subarray(0, length);
  }
}

/** Returns a function that makes the line of an item by its place in the batch. Of texts of a status there are few. */
function lineWriter({ cells, end, status }: ItemLineFormat, batch: ItemColumns): (index: number) => string {
  const { quantities, statuses, statusCodes } = batch;
  const statusTexts = Array.from({ length: statuses.size }, (_, code) => status(statuses.textOf(code)));
  const cellWriters = cells.map(({ field, before }): ((index: number) => string) => {
    if (field === 'status') return (index) => before + statusTexts[statusCodes[index] ?? 0];
    if (field === 'quantity') return (index) => before + quantities[index];
    return (index) => before + batch.petIdTextAt(index);
  });
  return (index) => {
    let line = '';
    for (const write of cellWriters) line += write(index);
    return line + end;
  };
}
