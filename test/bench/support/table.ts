/** Returns a table in Markdown. The first row is the head; columns whose cells all look like numbers are set to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const right = head.map((_, column) => body.every((row) => /^-?[\d.,]*( x)?$/.test(row[column] ?? '')));
  const padded = (row: readonly string[]) =>
    row.map((cell, at) => (right[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)));
  const rule = widths.map((width, at) => (right[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [padded(head), rule, ...body.map(padded)].map((row) => `${markdownCells(row)}\n`).join('');
}

/** Returns one row of a table in Markdown. */
export function markdownCells(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
