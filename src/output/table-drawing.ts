import type { Cell, HorizontalTableRow } from 'cli-table3';
import { singleLine } from '../shared/sanitize.ts';
import type { Paint } from './paint.ts';
import { splitRemark, type TableCell } from './table-cells.ts';
import { visibleWidth } from './text-width.ts';
import type { Column } from './view.ts';

/**
 * Draws a whole table with cli-table3, without borders: for what fits a terminal, since its time is quadratic. Its columns
 * are as wide as their widest cell; a remark beside a number has a column of its own, under the title of the number.
 *
 * @param header the paint of the titles; undefined: no header
 */
export async function drawTable(
  columns: readonly Column[],
  rows: readonly (readonly TableCell[])[],
  header: Paint | undefined,
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const shapes = columns.map((column, index) => shapeOf(column, rows, index));
  const grid = new Table({
    chars: noBorders,
    // Half of the gap between two columns is padding, the other half the character between them.
    style: { 'padding-left': 0, 'padding-right': 1, head: [], border: [], compact: true },
    colAligns: shapes.flatMap(({ right, remark }) => {
      const own = right ? 'right' : 'left';
      return remark === 0 ? [own] : [own, 'left'];
    }),
    // Where a title is wider than both, the numbers take the rest: their remarks stay beside them.
    colWidths: shapes.flatMap(({ remark }) => (remark === 0 ? [null] : [null, remark + 1])),
  });
  if (header !== undefined) {
    const titles: HorizontalTableRow = shapes.flatMap((shape) => titleCells(shape, header));
    grid.push(titles);
  }
  for (const cells of rows) grid.push(shapes.flatMap((shape, index) => valueCells(shape, cells[index])));
  return `${grid.toString().replace(/ +$/gm, '')}\n`;
}

/** What one column of ours is in the table of cli-table3. Widths are in columns of the terminal. */
interface Shape {
  readonly title: string;
  readonly right: boolean;
  /** The widest number of a right-aligned column, and the widest remark; 0 where the column has no remarks. */
  readonly number: number;
  readonly remark: number;
}

function shapeOf(column: Column, rows: readonly (readonly TableCell[])[], index: number): Shape {
  const right = column.align === 'right';
  const parts = right ? rows.map((cells) => splitRemark(cells[index]?.text ?? '')) : [];
  return {
    title: singleLine(column.title),
    right,
    number: widest(parts.map(({ main }) => main)),
    remark: widest(parts.map(({ remark }) => remark)),
  };
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, visibleWidth(text)), 0);
}

/** A title that is wider than the numbers reaches over their remarks. */
function titleCells({ title, number, remark }: Shape, paint: Paint): Cell[] {
  const content = paint.bold(title);
  if (remark === 0) return [content];
  if (visibleWidth(title) <= number) return [content, ''];
  return [{ content, colSpan: 2, hAlign: 'left' }];
}

function valueCells({ right, remark }: Shape, cell: TableCell | undefined): string[] {
  const text = cell?.text ?? '';
  if (!right || remark === 0) return [text];
  const parts = splitRemark(text);
  return [parts.main, parts.remark];
}

const noBorders = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
};
