import { CsvRows } from './csv-rows.ts';
import { FieldNames, type NamingOptions, type RawRow } from './field-names.ts';
import { type JsonKind, JsonRows } from './json-rows.ts';
import { broken, type ProblemList, withinFile } from './problems.ts';
import { countLineEnds, readText } from './text.ts';

export const changeFormats = ['csv', 'tsv', 'json', 'ndjson'] as const;
export type ChangeFormat = (typeof changeFormats)[number];

const byExtension: ReadonlyMap<string, ChangeFormat> = new Map<string, ChangeFormat>([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['txt', 'csv'],
  ['json', 'json'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
]);

/** Endings of the names of change files, such as `.csv`. */
export const changeFileEndings: readonly string[] = [...byExtension.keys()].map((extension) => `.${extension}`);

export function formatOfName(name: string): ChangeFormat | undefined {
  const [, extension] = /\.([^./\\]+)$/.exec(name) ?? [];
  return extension === undefined ? undefined : byExtension.get(extension.toLowerCase());
}

export interface ReadOptions extends NamingOptions {
  /** The name of the file, for its extension; undefined for stdin. */
  readonly name: string | undefined;
  /** The requested format; it overrides the extension. */
  readonly format: ChangeFormat | undefined;
}

/** Receives the rows of a file, and its errors. */
export interface RowSink {
  readonly problems: ProblemList;
  add(row: RawRow): void;
}

/**
 * Reads the rows of a file in any format, up to its end or to where the rest can't be understood.
 * @param options with `isStockList`, the file may be a table without a header line
 * @throws the errors of `source`
 */
export async function readRows(
  source: AsyncIterable<Uint8Array>,
  { name, format, isStockList = false, ...naming }: ReadOptions & { readonly isStockList?: boolean },
  sink: RowSink,
): Promise<void> {
  const { text, fault } = await readText(source);
  const { problems } = sink;
  withinFile(problems, () => {
    if (text === '' && fault !== undefined) return;
    const kind = kindOf(text, format ?? (name === undefined ? undefined : formatOfName(name)), isStockList);
    const reader =
      kind === 'table'
        ? new CsvRows(problems, new FieldNames('column', naming), isStockList)
        : new JsonRows(problems, new FieldNames('field', naming), kind);
    for (const row of reader.read(text)) sink.add(row);
  });
  if (fault !== undefined) problems.add(fault);
}

/**
 * Returns how to read a text. The requested format, or that of the extension, must agree with
 * the first character: reading a table as JSON, or JSON as a table, would cause an unhelpful error on every line.
 * @throws BrokenFileError if it does not agree
 */
function kindOf(text: string, wanted: ChangeFormat | undefined, isStockList: boolean): 'table' | JsonKind {
  const remedy = isStockList ? 'rename the file so that it ends in .' : 'add --format ';
  const [, before = '', first = ''] = /(\s*)([^\r\n]*)/.exec(text) ?? [];
  const line = 1 + countLineEnds(before);
  const wantsJson = wanted === 'json' || wanted === 'ndjson';
  if (first === '') return 'table';
  if (!first.startsWith('[') && !first.startsWith('{')) {
    if (!wantsJson) return 'table';
    broken(line, `this is not JSON: JSON begins with [ or {. For a table with columns, ${remedy}csv`);
  }
  if (wanted !== undefined && !wantsJson) broken(line, `this is JSON, not a table with columns: ${remedy}json`);
  if (first.startsWith('[')) return 'array';
  return wanted === 'ndjson' || first.trimEnd().endsWith('}') ? 'lines' : 'object';
}
