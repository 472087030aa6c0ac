import type { Paint } from './paint.ts';
import { splitRemark, type TableCell } from './table-cells.ts';
import type { Lane, Layout } from './table-layout.ts';
import { blanks, padEnd, padStart, truncate } from './text-width.ts';

/** The titles in bold, each where the values of its column are, as the first of the lines that `lineWriter` makes. */
export function headerLine({ lanes, gap }: Layout, paint: Paint): string {
  const titles = lanes.map(({ title, number, width }) => {
    return padEnd(padStart(paint.bold(truncate(title, width)), number), width);
  });
  return `${titles.join(blanks(gap)).trimEnd()}\n`;
}

/** The cell as it stands in its column: numbers padded before, text cut; nothing is padded at its end. */
function fitted({ text, kind }: TableCell, lane: Lane, { gap, cuts }: Layout): string {
  if (!lane.right) return cuts && kind === 'text' ? truncate(text, lane.width) : text;
  const { main, remark } = splitRemark(text);
  const number = padStart(main, lane.number);
  if (remark === '') return number;
  // A remark in a column that was measured without one runs over: better a crooked line than no word.
  const shown = cuts && lane.remark > 0 ? truncate(remark, lane.remark) : remark;
  return `${number}${blanks(gap)}${shown}`;
}

/** Makes lines at fixed widths, each with its line end: as cli-table3 draws a table that fits. */
export function lineWriter(layout: Layout): (cells: readonly TableCell[]) => string {
  const writers = cellWriters(layout);
  return (cells) => {
    let line = '';
    for (let index = 0; index < writers.length; index += 1) {
      const cell = cells[index];
      if (cell !== undefined) line += writers[index]?.(cell) ?? '';
    }
    return `${withoutSpaces(line)}\n`;
  };
}

function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  return line.slice(0, end);
}

/** For each column what makes a cell as wide as it is, with the gap behind it. */
export function cellWriters(layout: Layout): ((cell: TableCell) => string)[] {
  const last = layout.lanes.length - 1;
  return layout.lanes.map((lane, index) => cellWriter(lane, layout, index === last));
}

/** Most columns hold few different values, which are remembered; ids differ, but are plain digits, quick to pad. */
function cellWriter(lane: Lane, layout: Layout, isLast: boolean): (cell: TableCell) => string {
  const known = new Map<string, string>();
  const after = isLast ? '' : blanksBehindId(lane, layout);
  return (cell) => {
    if (cell.kind === 'id' && lane.right && digits.test(cell.text)) {
      return blanks(lane.number - cell.text.length) + cell.text + after;
    }
    const remembered = known.get(cell.text);
    if (remembered !== undefined) return remembered;
    const text = fitted(cell, lane, layout);
    const padded = isLast ? text : padEnd(text, lane.width) + blanks(layout.gap);
    if (known.size < 1000) known.set(cell.text, padded);
    return padded;
  };
}

/** What stands between the digits of an id and the next column. */
export function blanksBehindId(lane: Lane, { gap }: Layout): string {
  return blanks(lane.width - lane.number + gap);
}

const digits = /^-?\d+$/;
