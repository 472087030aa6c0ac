import type { Difference } from '../inventory/differences.ts';
import type { Batches } from './batches.ts';
import { numberColumn as number } from './change-rows.ts';
import type { Paint } from './paint.ts';
import type { Column, Row, Scalar, View } from './view.ts';

/**
 * What differs between two lists. JSON is `[{"petId","change","left":{"quantity","status"},"right":{…}}]`, with null for a side
 * that does not have the pet, and for a status that is not known. CSV and TSV have the same, flat.
 *
 * @param source can be read once
 */
export function differencesView(source: Batches<Difference>): View {
  return {
    shape: 'list',
    columns,
    rows: converted(source, toRow),
    document: { head: undefined, rows: converted(source, toJson) },
    table: { columns: tableColumns, rows: converted(source, toTableRow) },
  };
}

async function* converted<T>(
  source: Batches<Difference>,
  convert: (difference: Difference) => T,
): AsyncGenerator<readonly T[]> {
  for await (const batch of source) yield batch.map(convert);
}

function toJson({ petId, change, left, right }: Difference): object {
  return { petId, change, left: sideJson(left), right: sideJson(right) };
}

function sideJson(side: Difference['left']): object | null {
  return side === undefined ? null : { quantity: side.quantity, status: side.status || null };
}

function toRow({ petId, change, left, right }: Difference): Row {
  return {
    petId,
    change,
    leftQuantity: left?.quantity ?? null,
    leftStatus: left?.status || null,
    rightQuantity: right?.quantity ?? null,
    rightStatus: right?.status || null,
  };
}

const columns: readonly Column[] = [
  number('petId', 'Pet ID'),
  { field: 'change', title: 'Change' },
  number('leftQuantity', 'Left'),
  { field: 'leftStatus', title: 'Left status' },
  number('rightQuantity', 'Right'),
  { field: 'rightStatus', title: 'Right status' },
];

function toTableRow(difference: Difference): Row {
  const { petId, change, left, right } = difference;
  const by =
    left === undefined || right === undefined || left.quantity === right.quantity
      ? null
      : signed(BigInt(right.quantity) - BigInt(left.quantity));
  return {
    petId,
    change,
    left: left?.quantity ?? null,
    right: right?.quantity ?? null,
    by,
    status: statusText(difference),
  };
}

function signed(value: bigint): string {
  return value > 0n ? `+${value}` : `${value}`;
}

/** `sold`; `available → sold` where it differs. */
function statusText({ left, right }: Difference): string {
  const [before, after] = [left?.status || right?.status || '', right?.status || left?.status || ''];
  return before === after ? after : `${before} → ${after}`;
}

const looks = { added: 'green', removed: 'red', changed: 'yellow' } as const;

const tableColumns: readonly Column[] = [
  number('petId', 'Pet ID'),
  { field: 'change', title: 'Change', whole: true, cell: changeCell },
  number('left', 'Left'),
  number('right', 'Right'),
  { field: 'by', title: 'By', align: 'right', whole: true, cell: byCell },
  { field: 'status', title: 'Status' },
];

function changeCell(value: Scalar, _row: Row, paint: Paint): string {
  return value === 'added' || value === 'removed' || value === 'changed'
    ? paint[looks[value]](value)
    : `${value ?? ''}`;
}

function byCell(value: Scalar, _row: Row, paint: Paint): string {
  if (value === null) return '';
  return `${value}`.startsWith('-') ? paint.red(`${value}`) : paint.green(`${value}`);
}
