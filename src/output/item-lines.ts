import type { ColumnBatches, CopySelection, ItemColumns, ItemWriter, StatusNames } from '../inventory/item-columns.ts';
import { CopiedItems, canCopy } from './copied-items.ts';
import { integerLength, writeInteger, writeQuantity } from './digits.ts';
import { Cell, type ItemLineFormat, Piece } from './line-bytes.ts';

export type { ItemLineFormat };

/** In bytes: large enough that a write costs nothing beside its content, small enough for the memory. */
const pieceSize = 128 * 1024;
/** `-9223372036854775808` */
const longestInteger = 20;

/** Returns items as bytes of whole lines, in large pieces. */
export async function* itemPieces(batches: ColumnBatches, format: ItemLineFormat): AsyncGenerator<Uint8Array> {
  const lines = new ItemLines(format);
  if (batches.copied !== undefined && canCopy(format)) yield* batches.copied(lines);
  else for await (const batch of batches) yield* lines.pieces(batch);
  yield* lines.rest();
}

/** Writes numbers from columns as digits, without strings or objects on the way, or copies them as they stand in JSON. */
export class ItemLines implements ItemWriter {
  #piece = new Piece(pieceSize);
  readonly #format: ItemLineFormat;
  #copied: CopiedItems;
  readonly #plan: LinePlan;
  readonly #statuses: StatusCells;
  readonly #quantities: QuantityCells | undefined;

  constructor(format: ItemLineFormat) {
    this.#format = format;
    this.#copied = new CopiedItems(format, { isNew: () => true });
    this.#plan = createPlan(format);
    this.#statuses = new StatusCells(this.#plan.status);
    if (format.quantity !== undefined) this.#quantities = new QuantityCells(format.quantity);
  }

  get copiedItems(): number {
    return this.#copied.count;
  }

  get isFull(): boolean {
    return this.#piece.room < this.#copied.longest;
  }

  restart(selection: CopySelection): void {
    this.#piece.length = 0;
    this.#copied = new CopiedItems(this.#format, selection);
  }

  copy(bytes: Uint8Array, view: DataView, start: number): number {
    return this.#copied.copy(this.#piece, bytes, view, start);
  }

  /** Returns the pieces that a batch fills. */
  *pieces(batch: ItemColumns): Generator<Uint8Array> {
    const statuses = this.#statuses.of(batch);
    const quantities = this.#quantities?.of(batch);
    const longest = this.#plan.longest + this.#statuses.longest + (this.#quantities?.longest ?? 0);
    for (let from = 0; from < batch.length; ) {
      if (longest > this.#piece.room) {
        yield* this.rest();
        if (longest > this.#piece.room) this.#piece = new Piece(longest);
      }
      const to = Math.min(batch.length, from + Math.floor(this.#piece.room / longest));
      writeLines(this.#piece, this.#plan, { batch, statuses, quantities, from, to });
      from = to;
    }
  }

  /** Returns the lines that have not filled a piece. */
  *rest(): Generator<Uint8Array> {
    const { bytes, length } = this.#piece;
    if (length === 0) return;
    this.#piece = new Piece(pieceSize);
    yield bytes.subarray(0, length);
  }
}

const none = new Cell('');
const idKind = 0;
const quantityKind = 1;
const statusKind = 2;

/** The format as lines are written from it, some million times: no field is looked up by its name. */
interface LinePlan {
  readonly kinds: Uint8Array;
  /** The text before each cell, except for a status, whose bytes have it. */
  readonly before: readonly Cell[];
  /** Empty if a status is the last, whose bytes have it. */
  readonly end: Cell;
  readonly idWidth: number;
  readonly trimmed: boolean;
  /** The most bytes that a line takes beside the texts of its cells. */
  readonly longest: number;
  status(status: string): string;
}

function createPlan({ cells, end, idWidth = 0, trimmed = false, status }: ItemLineFormat): LinePlan {
  const kinds = Uint8Array.from(cells, ({ field }) =>
    field === 'status' ? statusKind : field === 'quantity' ? quantityKind : idKind,
  );
  const before = cells.map((cell) => new Cell(cell.field === 'status' ? '' : cell.before));
  const beforeStatus = cells.find(({ field }) => field === 'status')?.before ?? '';
  const afterStatus = cells.at(-1)?.field === 'status' && !trimmed ? end : '';
  const last = new Cell(afterStatus === '' ? end : '');
  const room = Math.max(longestInteger, idWidth);
  const longest = before.reduce((sum, { length }) => sum + length + room, last.length);
  const whole = (text: string) => beforeStatus + status(text) + afterStatus;
  return { kinds, before, end: last, idWidth, trimmed, longest, status: whole };
}

/** The cells of the statuses of a batch: there are few. */
class StatusCells {
  /** In bytes. */
  longest = 0;
  #names: StatusNames | undefined;
  #cells: Cell[] = [];

  constructor(readonly textOf: (status: string) => string) {}

  of({ statuses }: ItemColumns): readonly Cell[] {
    if (this.#names !== statuses) {
      this.#names = statuses;
      this.#cells = [];
      this.longest = 0;
    }
    for (let code = this.#cells.length; code < statuses.size; code += 1) {
      const cell = new Cell(this.textOf(statuses.textOf(code)));
      this.longest = Math.max(this.longest, cell.length);
      this.#cells.push(cell);
    }
    return this.#cells;
  }
}

/** Most stores have few different quantities; the memory must stay flat if one has many. */
const mostQuantities = 10_000;

/** The cells of the quantities of a batch if they are more than digits: a remark depends on the status. */
class QuantityCells {
  /** In bytes. */
  longest = 0;
  #names: StatusNames | undefined;
  /** By the code of a status, then by quantity. */
  #known: Map<number, Cell>[] = [];
  #remembered = 0;

  constructor(readonly textOf: (quantity: number, status: string) => string) {}

  of({ quantities, statuses, statusCodes, length }: ItemColumns): readonly Cell[] {
    if (this.#names !== statuses) {
      this.#names = statuses;
      this.#known = [];
      this.#remembered = 0;
      this.longest = 0;
    }
    return Array.from({ length }, (_, index) => this.#cell(quantities[index] ?? 0, statusCodes[index] ?? 0, statuses));
  }

  #cell(quantity: number, code: number, statuses: StatusNames): Cell {
    const known = this.#known[code]?.get(quantity);
    if (known !== undefined) return known;
    const cell = new Cell(this.textOf(quantity, statuses.textOf(code)));
    this.longest = Math.max(this.longest, cell.length);
    if (this.#remembered < mostQuantities) {
      this.#remembered += 1;
      this.#known[code] ??= new Map();
      this.#known[code].set(quantity, cell);
    }
    return cell;
  }
}

interface Lines {
  readonly batch: ItemColumns;
  readonly from: number;
  readonly to: number;
  /** By code. */
  readonly statuses: readonly Cell[];
  /** By place in the batch; undefined: its digits. */
  readonly quantities: readonly Cell[] | undefined;
}

/** There must be room for them. */
function writeLines(piece: Piece, plan: LinePlan, lines: Lines): void {
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

function pad(out: Uint8Array, start: number, count: number): number {
  let at = start;
  for (const end = start + count; at < end; at += 1) out[at] = space;
  return at;
}
