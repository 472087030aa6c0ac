import { CsvRows } from './csv-rows.ts';
import { FieldNames, type NamingOptions, type RawRow } from './field-names.ts';
import { type JsonKind, JsonRows } from './json-rows.ts';
import { broken, type ProblemList } from './problems.ts';
import { countLineEnds, maxRow, readPieces } from './text.ts';

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
 * Reads rows piece by piece.
 * @throws BrokenFileError if the rest can't be understood
 */
interface RowReader {
  /** @param piece the next piece of the text; it doesn't end between the CR and the LF of one line end */
  read(piece: string, isLast: boolean): Iterable<RawRow>;
}

/**
 * Reads the rows of a file in any format, up to its end or to where the rest can't be understood.
 * @param options with `isStockList`, the file may be a table without a header line
 * @throws the errors of `source`
 */
export async function readRows(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions & { readonly isStockList?: boolean },
  sink: RowSink,
): Promise<void> {
  let head = '';
  let reader: RowReader | undefined;
  await readPieces(source, sink.problems, (piece, isLast) => {
    let text = piece;
    if (reader === undefined) {
      head += piece;
      if (!isLast && !showsKind(head)) return;
      reader = createReader(head, options, sink.problems);
      text = head;
    }
    for (const row of reader.read(text, isLast)) sink.add(row);
  });
}

/**
 * Reports whether the first non-blank line is complete, or too long. That line determines how the file is read.
 * @throws BrokenFileError if the file begins with a megabyte of white space
 */
function showsKind(head: string): boolean {
  const start = head.search(/\S/);
  if (start !== -1) return head.length > maxRow || /[\r\n]/.test(head.slice(start));
  return head.length > maxRow ? broken(1, 'the file begins with a megabyte of white space') : false;
}

function createReader(
  head: string,
  { name, format, isStockList = false, ...naming }: ReadOptions & { readonly isStockList?: boolean },
  problems: ProblemList,
): RowReader {
  const kind = kindOf(head, format ?? (name === undefined ? undefined : formatOfName(name)), isStockList);
  if (kind === 'table') return new CsvRows(problems, new FieldNames('column', naming), isStockList);
  return new JsonRows(problems, new FieldNames('field', naming), kind);
}

/**
 * Returns how to read the file that begins with `head`. The requested format, or that of the extension, must agree with
 * the first character: reading a table as JSON, or JSON as a table, would cause an unhelpful error on every line.
 * @throws BrokenFileError if it does not agree
 */
function kindOf(head: string, wanted: ChangeFormat | undefined, isStockList: boolean): 'table' | JsonKind {
  const remedy = isStockList ? 'rename the file so that it ends in .' : 'add --format ';
  const [, before = '', first = ''] = /(\s*)([^\r\n]*)/.exec(head) ?? [];
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
