import { itemFields } from './inventory-view.ts';
import type { ItemLineFormat } from './item-lines.ts';
import type { Paint } from './paint.ts';
import { tableCells } from './table-cells.ts';
import type { Layout } from './table-layout.ts';
import { blanksBehindId, cellWriters } from './table-lines.ts';
import type { Scalar, View } from './view.ts';

/** Items as the lines that `lineWriter` makes of them. */
export function tableItemLine(view: View, layout: Layout, paint: Paint): ItemLineFormat {
  const fields = itemFields(view);
  const writers = cellWriters(layout);
  const idAt = fields.indexOf('petId');
  const idLane = layout.lanes[idAt];
  const cellText = (field: string, value: Scalar): string => {
    const index = view.columns.findIndex((column) => column.field === field);
    const [cell] = tableCells(view.columns.slice(index, index + 1), { [field]: value }, paint);
    return cell === undefined ? '' : (writers[index]?.(cell) ?? '');
  };
  return {
    cells: fields.map((field, index) => ({
      field,
      before: idLane !== undefined && index === idAt + 1 ? blanksBehindId(idLane, layout) : '',
    })),
    end: '\n',
    idWidth: idLane?.number ?? 0,
    quantity: (quantity) => cellText('quantity', quantity),
    status: (status) => cellText('status', status),
    trimmed: true,
  };
}
