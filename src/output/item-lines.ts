import type { ColumnBatches, ItemColumns } from '../inventory/item-columns.ts';
import { QuantityCells, StatusCells } from './item-cells.ts';
import { createPlan, type ItemLineFormat, type LinePlan } from './line-plan.ts';
import { Piece, writeLines } from './line-writer.ts';

export type { ItemLineFormat } from './line-plan.ts';

/** Large enough that a write costs nothing beside its content, small enough for the memory. In bytes. */
const pieceSize = 128 * 1024;

/** Items as bytes of whole lines, in large pieces. */
export async function* itemPieces(batches: ColumnBatches, format: ItemLineFormat): AsyncGenerator<Uint8Array> {
  const lines = new ItemLines(format);
  for await (const batch of batches) yield* lines.pieces(batch);
  yield* lines.rest();
}

/** Writes numbers from columns as digits, without strings or objects on the way. */
export class ItemLines {
  #piece = new Piece(pieceSize);
  readonly #plan: LinePlan;
  readonly #statuses: StatusCells;
  readonly #quantities: QuantityCells | undefined;

  constructor(format: ItemLineFormat) {
    this.#plan = createPlan(format);
    this.#statuses = new StatusCells(this.#plan.status);
    if (format.quantity !== undefined) this.#quantities = new QuantityCells(format.quantity);
  }

  /** The pieces that a batch fills. */
  *pieces(batch: ItemColumns): Generator<Uint8Array> {
    const statuses = this.#statuses.of(batch);
    const quantities = this.#quantities?.of(batch);
    const longest = this.#plan.longest + this.#statuses.longest + (this.#quantities?.longest ?? 0);
    for (let at = 0; at < batch.length; ) {
      if (longest > this.#piece.room) {
        yield* this.rest();
        if (longest > this.#piece.room) this.#piece = new Piece(longest);
      }
      const to = Math.min(batch.length, at + Math.floor(this.#piece.room / longest));
      writeLines(this.#piece, this.#plan, {
        batch,
        statuses,
        quantities,
        from: at,
        to,
      });
      at = to;
    }
  }

  /** What has not filled a piece. */
  *rest(): Generator<Uint8Array> {
    const { bytes, length } = this.#piece;
    if (length === 0) return;
    this.#piece = new Piece(pieceSize);
    yield bytes.subarray(0, length);
  }
}
