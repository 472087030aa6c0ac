import type { InventoryField } from './inventory-view.ts';
import { Cell } from './item-cells.ts';

/** How items become lines. */
export interface ItemLineFormat {
  /** What a line shows, in this order, and what stands before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** Behind the last, with the line end. */
  readonly end: string;
  /** Ids are padded with spaces before them to so many characters. */
  readonly idWidth?: number;
  /** A quantity, where it is more than its digits. */
  quantity?(quantity: number, status: string): string;
  status(status: string): string;
  /** Spaces before the line end are left out. */
  readonly trimmed?: boolean;
}

export const idKind = 0;
export const quantityKind = 1;
export const statusKind = 2;

/** The format in the form that lines are written from, some million times: no field is looked up by its name. */
export interface LinePlan {
  /** What the cells are. */
  readonly kinds: Uint8Array;
  /** What stands before each, except for a status, whose bytes have it. */
  readonly before: readonly Cell[];
  /** Nothing where a status is the last, whose bytes have it. */
  readonly end: Cell;
  readonly idWidth: number;
  readonly trimmed: boolean;
  /** What a line takes at most, beside the texts of its cells. In bytes. */
  readonly longest: number;
  status(status: string): string;
}

/** `-9223372036854775808` */
const longestInteger = 20;

export function createPlan({ cells, end, idWidth = 0, trimmed = false, status }: ItemLineFormat): LinePlan {
  const kinds = Uint8Array.from(cells, ({ field }) =>
    field === 'status' ? statusKind : field === 'quantity' ? quantityKind : idKind,
  );
  const before = cells.map((cell) => new Cell(cell.field === 'status' ? '' : cell.before));
  const beforeStatus = cells.find(({ field }) => field === 'status')?.before ?? '';
  const behindStatus = cells.at(-1)?.field === 'status' && !trimmed ? end : '';
  const last = new Cell(behindStatus === '' ? end : '');
  const room = Math.max(longestInteger, idWidth);
  const longest = before.reduce((sum, { length }) => sum + length + room, last.length);
  const whole = (text: string) => beforeStatus + status(text) + behindStatus;
  return { kinds, before, end: last, idWidth, trimmed, longest, status: whole };
}
