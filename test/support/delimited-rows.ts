/**
 * Returns the rows of CSV or TSV with a header, by column. Blank cells are left out, so that a test states only the
 * columns that it is about.
 */
export function rowsIn(text: string): readonly Readonly<Record<string, string>>[] {
  const separator = /[,;|\t]/.exec(text)?.[0] ?? ',';
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(
    new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\\n]*))(${separator === '|' ? '\\|' : separator}|\\n|$)`, 'g'),
  )) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\n') rows.push([]);
    if (end === '') break;
  }
  const [head = [], ...others] = rows.slice(0, -1);
  return others.map((cells) =>
    Object.fromEntries(
      head.flatMap((name, index) => (cells[index] ? [[name.replace(/^\ufeff/, ''), cells[index]]] : [])),
    ),
  );
}
