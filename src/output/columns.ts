import type { PetNames } from '../inventory/bar-codes.ts';
import type { Quantity } from '../inventory/item-fields.ts';
import { grouped, signed } from '../inventory/items.ts';
import type { Paint } from './terminal.ts';
import type { Column, Row, Scalar } from './view.ts';

/** Returns a column for ids or line numbers, with plain digits. */
export function numberColumn(field: string, title: string): Column {
  return { field, title, align: 'right' };
}

/** Returns a column for pets, units or requests, with digits in groups: `1,234`. */
export function countColumn(field: string, title: string): Column {
  return { field, title, align: 'right', cell: numberText };
}

/** The column of the store's names of pets. A narrow table leaves it out if necessary. */
export const nameColumn: Column = { field: 'name', title: 'Name', foreign: 'name', showsDash: true, dropRank: 1 };

/** Returns the column of names for rows that have a `petId`. */
export function namesColumn(names: PetNames): Column {
  return { ...nameColumn, value: ({ petId }) => names.get(petId as bigint) };
}

/** Returns a column for the change of a stock: `+5`, `-36`. */
export function differenceColumn(title: string): Column {
  return { field: 'difference', title, align: 'right', cell: differenceCell };
}

/**
 * Returns the value for `differenceColumn`; null if the stock is the same, or unknown on one side. It is a bigint,
 * because the difference may exceed what a number represents exactly.
 */
export function differenceOf(before: Quantity | undefined, after: Quantity | undefined): bigint | null {
  const difference = before === undefined || after === undefined ? 0n : BigInt(after) - BigInt(before);
  return difference === 0n ? null : difference;
}

export function differenceCell(value: Scalar, _row: Row, paint: Paint): string {
  if (typeof value !== 'bigint') return `${value ?? ''}`;
  return (value > 0n ? paint.green : paint.red)(signed(value));
}

export function numberText(value: Scalar): string {
  return typeof value === 'number' || typeof value === 'bigint' ? grouped(value) : `${value ?? ''}`;
}

const barLength = 10;

type BarColor = 'green' | 'yellow' | 'red' | 'cyan' | 'dim';

/**
 * Returns two columns for the field `share` (0 to 1, or null): in percent, and as a bar. A narrow terminal leaves out
 * the bar first.
 */
export function shareColumns(title: string, color: (row: Row) => BarColor): readonly Column[] {
  return [
    {
      field: 'share',
      title,
      align: 'right',
      cell: (share) => (typeof share === 'number' ? percent(share) : ''),
    },
    {
      field: 'share',
      title: '',
      remark: true,
      whole: true,
      dropRank: 1,
      cell: (share, row, paint) => (typeof share === 'number' ? barText(share, barLength, paint, color(row)) : ''),
    },
  ];
}

/** Returns a share in percent: `<1%` for any share between 0 and 1 %, and at most 99% for a share below 1. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100}%`;
}

/** Returns a bar like `█████░░░░░`. The bar is full only if the share is 1. */
export function barText(share: number, length: number, paint: Paint, color: BarColor): string {
  const full = Math.floor(Math.min(1, Math.max(0, share)) * length);
  const [filled, rest] = ['█'.repeat(full), '░'.repeat(length - full)];
  return paint[color](filled) + paint.dim(rest);
}
