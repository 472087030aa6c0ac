import type { ColumnBatches, ItemColumns } from '../inventory/item-columns.ts';
import { integerLength, writeInteger } from './digits.ts';
import type { InventoryField } from './inventory-view.ts';
import { bytesOf, QuantityCells, StatusCells } from './item-cells.ts';

/** How items become lines. */
export interface ItemLineFormat {
  /** What a line shows, in this order, and what stands before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** Behind the last, with the line end. */
  readonly end: string;
  /** Ids are padded with spaces before them to so many characters. */
  readonly idWidth?: number;
  /** A quantity, where it is more than its digits. */
  quantity?(quantity: number): string;
  status(status: string): string;
  /** Spaces before the line end are left out. */
  readonly trimmed?: boolean;
}

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
  #out = new Uint8Array(pieceSize);
  #length = 0;
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
      if (longest > this.#out.length - this.#length) {
        yield* this.rest();
        if (longest > this.#out.length) this.#out = new Uint8Array(longest);
      }
      const fitting = Math.floor((this.#out.length - this.#length) / longest);
      const to = Math.min(batch.length, at + fitting);
      this.#length = writeLines(this.#out, this.#length, this.#plan, { batch, statuses, quantities, from: at, to });
      at = to;
    }
  }

  /** What has not filled a piece. */
  *rest(): Generator<Uint8Array> {
    if (this.#length === 0) return;
    const piece = this.#out.subarray(0, this.#length);
    this.#out = new Uint8Array(pieceSize);
    this.#length = 0;
    yield piece;
  }
}

const idKind = 0;
const quantityKind = 1;
const statusKind = 2;

/** The format in the form that lines are written from, some million times: no field is looked up by its name. */
interface LinePlan {
  /** What the cells are. */
  readonly kinds: Uint8Array;
  /** What stands before each, but for a status, whose bytes have it. */
  readonly before: readonly Uint8Array[];
  /** Nothing where a status is the last, whose bytes have it. */
  readonly end: Uint8Array;
  readonly idWidth: number;
  readonly trimmed: boolean;
  /** What a line takes at most, beside the texts of its cells. In bytes. */
  readonly longest: number;
  status(status: string): string;
}

/** `-9223372036854775808` */
const longestInteger = 20;

function createPlan({ cells, end, idWidth = 0, trimmed = false, status }: ItemLineFormat): LinePlan {
  const kinds = Uint8Array.from(cells, ({ field }) =>
    field === 'status' ? statusKind : field === 'quantity' ? quantityKind : idKind,
  );
  const before = cells.map((cell) => bytesOf(cell.field === 'status' ? '' : cell.before));
  const beforeStatus = cells.find(({ field }) => field === 'status')?.before ?? '';
  const behindStatus = cells.at(-1)?.field === 'status' && !trimmed ? end : '';
  const last = bytesOf(behindStatus === '' ? end : '');
  const room = Math.max(longestInteger, idWidth);
  const longest = before.reduce((sum, { length }) => sum + length + room, last.length);
  const whole = (text: string) => beforeStatus + status(text) + behindStatus;
  return { kinds, before, end: last, idWidth, trimmed, longest, status: whole };
}

interface Lines {
  readonly batch: ItemColumns;
  readonly from: number;
  readonly to: number;
  /** By code. */
  readonly statuses: readonly Uint8Array[];
  /** By place in the batch; undefined: its digits. */
  readonly quantities: readonly Uint8Array[] | undefined;
}

/** @returns where they end; there must be room for them */
function writeLines(out: Uint8Array, start: number, plan: LinePlan, lines: Lines): number {
  const { end, trimmed } = plan;
  let at = start;
  for (let index = lines.from; index < lines.to; index += 1) {
    const lineStart = at;
    at = writeCells(out, at, plan, lines, index);
    if (trimmed) while (at > lineStart && out[at - 1] === space) at -= 1;
    at = put(out, at, end);
  }
  return at;
}

function writeCells(out: Uint8Array, start: number, plan: LinePlan, lines: Lines, index: number): number {
  const { kinds, before, idWidth } = plan;
  const { batch, statuses, quantities } = lines;
  let at = start;
  for (let cell = 0; cell < kinds.length; cell += 1) {
    const kind = kinds[cell];
    at = put(out, at, before[cell] ?? none);
    if (kind === statusKind) at = put(out, at, statuses[batch.statusCodes[index] ?? 0] ?? none);
    else if (kind === idKind) at = putId(out, at, batch.heads[index] ?? 0, batch.tails[index] ?? 0, idWidth);
    else if (quantities === undefined) at = putQuantity(out, at, batch.quantities[index] ?? 0);
    else at = put(out, at, quantities[index] ?? none);
  }
  return at;
}

const space = 0x20;
const none = new Uint8Array();
const billion = 1_000_000_000;

function putId(out: Uint8Array, start: number, head: number, tail: number, width: number): number {
  let at = start;
  if (width > 0) {
    for (const end = start + width - integerLength(head, tail); at < end; at += 1) out[at] = space;
  }
  return writeInteger(out, at, head, tail);
}

function putQuantity(out: Uint8Array, at: number, quantity: number): number {
  if (quantity < billion && quantity > -billion) return writeInteger(out, at, 0, quantity);
  const head = Math.trunc(quantity / billion);
  return writeInteger(out, at, head, quantity - head * billion);
}

function put(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index += 1) out[at + index] = bytes[index] ?? 0;
  return at + bytes.length;
}
