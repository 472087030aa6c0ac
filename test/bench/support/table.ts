/** A table as text. The first row is the head; columns whose cells all look like numbers are set to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const right = head.map((_, column) => body.every((row) => /^[\d.<>-]*$/.test(row[column] ?? '')));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [line(head), rule, ...body.map(line)].map((text) => `${text}\n`).join('');
}

/** A table in Markdown. The first row is the head; columns whose cells all look like numbers are set to the right. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const rule = head.map((_, column) => (body.every((row) => isNumber(row[column] ?? '')) ? '--:' : '---'));
  return [head, rule, ...body].map((row) => `${markdownCells(row)}\n`).join('');
}

/** One row of a table in Markdown. */
export function markdownCells(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const isNumber = (cell: string) => /^-?[\d.]*( x)?$/.test(cell);

/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
