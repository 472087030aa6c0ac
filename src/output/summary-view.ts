import type { Summary, Tally } from '../inventory/summary.ts';
import { statusCell } from './inventory-view.ts';
import type { Column, Row, View } from './view.ts';

/**
 * Pets and units by status, and in all in the last row. In JSON
 * `{"pets":n,"units":n,"byStatus":{"available":{"pets":n,"units":n}, …}}`.
 */
export function summaryView({ pets, units, byStatus }: Summary): View {
  const total: Row = { status: 'total', pets, units };
  const rows: Row[] = [...byStatus].map(([status, tally]) => ({ status, pets: tally.pets, units: tally.units }));
  return { shape: 'list', columns: summaryColumns(total), rows: [[...rows, total]], json: { pets, units, byStatus } };
}

function summaryColumns(total: Row): readonly Column[] {
  const number = (field: keyof Tally, title: string): Column => ({
    field,
    title,
    align: 'right',
    cell: (value, row, paint) => (row === total ? paint.bold(`${value}`) : `${value}`),
  });
  return [
    {
      field: 'status',
      title: 'Status',
      cell: (value, row, paint) => (row === total ? paint.bold('Total') : statusCell(`${value}`, paint)),
    },
    number('pets', 'Pets'),
    number('units', 'Units'),
  ];
}
