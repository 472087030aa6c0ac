import { singleLine } from '../shared/sanitize.ts';
import type { TableCell } from './table-cells.ts';
import { blanks, padEnd, visibleWidth, wrap } from './text-width.ts';
import type { Column, RenderOptions } from './view.ts';

const gap = 2;

/** One row with a line for each value, its title before it. Text is wrapped under itself; numbers and painted words are not. */
export function recordLines(columns: readonly Column[], cells: readonly TableCell[], options: RenderOptions): string {
  const titles = columns.map(({ title }) => singleLine(title));
  const indent = Math.max(0, ...titles.map(visibleWidth)) + gap;
  const room = options.width === undefined ? Number.POSITIVE_INFINITY : Math.max(10, options.width - indent);
  return titles
    .map((title, index) => {
      const { text, kind } = cells[index] ?? { text: '', kind: 'text' };
      const lines = kind !== 'text' || text.includes('\x1b') ? [text] : wrap(text, room);
      return `${padEnd(options.paint.bold(title), indent)}${lines.join(`\n${blanks(indent)}`)}`.trimEnd();
    })
    .join('\n')
    .concat('\n');
}
