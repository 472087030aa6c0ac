import type { ColumnBatches, CopySelection, ItemColumns, ItemWriter } from '../inventory/item-columns.ts';
import { CopiedItems, canCopy, type ItemLineFormat } from './copied-items.ts';

export type { ItemLineFormat };

/** In bytes: large enough that a write costs nothing beside its content, small enough for the memory. */
const pieceSize = 128 * 1024;
/** A code unit takes so many bytes of UTF-8 at most. */
const longestUnit = 3;
/** Lines that become bytes together. */
const linesAtOnce = 512;

/** Returns items as bytes of whole lines, in large pieces. */
export async function* itemPieces(batches: ColumnBatches, format: ItemLineFormat): AsyncGenerator<Uint8Array> {
  const lines = new ItemLines(format);
  if (batches.copied !== undefined && canCopy(format)) yield* batches.copied(lines);
  else for await (const batch of batches) yield* lines.pieces(batch);
  yield* lines.rest();
}

/** Writes items as lines: without an object for each, or copied as they stand in JSON. */
export class ItemLines implements ItemWriter {
  #copied: CopiedItems | undefined;
  /** Is filled again and again: what is given away is a copy. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(pieceSize);
  #length = 0;

  #selection: CopySelection | undefined;

  /** @param shortest lists of fewer bytes are not copied: what that needs takes longer to make */
  constructor(
    private readonly format: ItemLineFormat,
    private readonly shortest = 128 * 1024,
  ) {}

  window(received: number): Uint8Array | undefined {
    if (this.#copied === undefined && this.#selection !== undefined && received >= this.shortest) {
      this.#copied = new CopiedItems(this.format, this.#selection);
      this.#copied.lines.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = this.#copied.lines;
    }
    return this.#copied?.window;
  }

  get copiedItems(): number {
    return this.#copied?.count ?? 0;
  }

  get isFull(): boolean {
    return this.#copied !== undefined && this.#room < this.#copied.longest;
  }

  restart(selection: CopySelection): void {
    this.#selection = selection;
    this.#copied = undefined;
    this.#bytes = Buffer.allocUnsafeSlow(pieceSize);
    this.#length = 0;
  }

  copy(start: number): number {
    if (this.#copied === undefined || this.isFull) return start;
    const at = this.#copied.copy(start, this.#length);
    this.#length = this.#copied.end;
    return at;
  }

  *pieces(batch: ItemColumns): Generator<Uint8Array> {
    const line = lineWriter(this.format, batch);
    for (let from = 0; from < batch.length; from += linesAtOnce) {
      let text = '';
      for (let index = from; index < Math.min(batch.length, from + linesAtOnce); index += 1) text += line(index);
      const most = longestUnit * text.length;
      if (most > this.#room) yield* this.rest();
      if (most > this.#room) yield Buffer.from(text);
      else this.#length += this.#bytes.write(text, this.#length);
    }
  }

  /** Returns the lines that have not filled a piece. */
  *rest(): Generator<Uint8Array> {
    if (this.#length === 0) return;
    const piece = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    yield piece;
  }

  get #room(): number {
    return this.#bytes.length - this.#length;
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
