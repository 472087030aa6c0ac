import type { ItemColumns } from '../inventory/item-columns.ts';
import { integerLength, slack, writeInteger } from './digits.ts';
import { Cell } from './item-cells.ts';
import { idKind, type LinePlan, statusKind } from './line-plan.ts';

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

export interface Lines {
  readonly batch: ItemColumns;
  readonly from: number;
  readonly to: number;
  /** By code. */
  readonly statuses: readonly Cell[];
  /** By place in the batch; undefined: its digits. */
  readonly quantities: readonly Cell[] | undefined;
}

/** There must be room for them. */
export function writeLines(piece: Piece, plan: LinePlan, lines: Lines): void {
  const { bytes, view } = piece;
  const { end, trimmed } = plan;
  let at = piece.length;
  for (let index = lines.from; index < lines.to; index += 1) {
    const lineStart = at;
    at = writeCells(piece, at, plan, lines, index);
    if (trimmed) while (at > lineStart && bytes[at - 1] === space) at -= 1;
    at = end.write(view, at);
  }
  piece.length = at;
}

function writeCells({ bytes, view }: Piece, start: number, plan: LinePlan, lines: Lines, index: number): number {
  const { kinds, before, idWidth } = plan;
  const { statuses, quantities } = lines;
  const { heads, tails, quantities: numbers, statusCodes } = lines.batch;
  let at = start;
  for (let cell = 0; cell < kinds.length; cell += 1) {
    const kind = kinds[cell];
    if (kind === statusKind) {
      at = (statuses[statusCodes[index] ?? 0] ?? none).write(view, at);
      continue;
    }
    at = (before[cell] ?? none).write(view, at);
    if (kind === idKind) {
      const head = heads[index] ?? 0;
      const tail = tails[index] ?? 0;
      if (idWidth > 0) at = pad(bytes, at, idWidth - integerLength(head, tail));
      at = writeInteger(view, at, head, tail);
    } else if (quantities === undefined) at = writeQuantity(view, at, numbers[index] ?? 0);
    else at = (quantities[index] ?? none).write(view, at);
  }
  return at;
}

const space = 0x20;
const none = new Cell('');
const billion = 1_000_000_000;

function pad(out: Uint8Array, start: number, count: number): number {
  let at = start;
  for (const end = start + count; at < end; at += 1) out[at] = space;
  return at;
}

function writeQuantity(out: DataView, at: number, quantity: number): number {
  if (quantity < billion && quantity > -billion) return writeInteger(out, at, 0, quantity);
  const head = Math.trunc(quantity / billion);
  return writeInteger(out, at, head, quantity - head * billion);
}
