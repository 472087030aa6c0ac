import { broken } from './fault.ts';
import type { JsonKind } from './json/rows.ts';
import { countLineEnds, longestRow } from './lines.ts';

/** What `--format` takes. */
export const changeFormats = ['csv', 'tsv', 'json', 'ndjson'] as const;
export type ChangeFormat = (typeof changeFormats)[number];

/** Of CSV and TSV, the header line tells the delimiter. */
export type FileKind = 'delimited' | JsonKind;

const byExtension: ReadonlyMap<string, ChangeFormat> = new Map<string, ChangeFormat>([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['txt', 'csv'],
  ['json', 'json'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
]);

/** How the names of change files end: `.csv`. */
export const changeFileEndings: readonly string[] = [...byExtension.keys()].map((extension) => `.${extension}`);

/** The format by the extension of a file's name; undefined where that is not known. */
export function formatOfName(name: string): ChangeFormat | undefined {
  const [, extension] = /\.([^./\\]+)$/.exec(name) ?? [];
  return extension === undefined ? undefined : byExtension.get(extension.toLowerCase());
}

/** Whether the first line that is not blank is there as a whole, so that `kindOf` can tell. */
export function showsKind(head: string): boolean {
  const start = head.search(/\S/);
  return start !== -1 && (head.length > longestRow || /[\r\n]/.test(head.slice(start)));
}

/**
 * How the file is to be read that begins with `head`. What was asked for, or the extension says, has to agree with the
 * first character: a table that is read as JSON, or the other way round, has a fault in every line and none that helps.
 * @throws BrokenFileError where it does not
 */
export function kindOf(head: string, wanted: ChangeFormat | undefined): FileKind {
  const [, before = '', first = ''] = /^(\s*)([^\r\n]*)/.exec(head) ?? [];
  const line = 1 + countLineEnds(before);
  const wantsJson = wanted === 'json' || wanted === 'ndjson';
  if (first !== '' && !first.startsWith('[') && !first.startsWith('{')) {
    if (wantsJson)
      broken(line, 'this is not JSON, which begins with [ or {: for a table with columns add --format csv');
    return 'delimited';
  }
  if (first === '') return 'delimited';
  if (wanted !== undefined && !wantsJson) broken(line, 'this is JSON, not a table with columns: add --format json');
  if (first.startsWith('[')) return 'array';
  return wanted === 'ndjson' || first.trimEnd().endsWith('}') ? 'lines' : 'object';
}
