import { DelimitedRows } from './csv-rows.ts';
import { BrokenFileError, broken, type FaultList } from './fault.ts';
import { FieldNames, type NamingOptions, type RawRow } from './field-names.ts';
import { createJsonRows, type JsonKind } from './json-rows.ts';
import { countLineEnds, decodeText, longestRow, type RowReader } from './text.ts';

/** What `--format` takes. */
export const changeFormats = ['csv', 'tsv', 'json', 'ndjson'] as const;
export type ChangeFormat = (typeof changeFormats)[number];

/** Of CSV and TSV, the header line tells the delimiter. */
type FileKind = 'delimited' | JsonKind;

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
function showsKind(head: string): boolean {
  const start = head.search(/\S/);
  return start !== -1 && (head.length > longestRow || /[\r\n]/.test(head.slice(start)));
}

/**
 * How the file is to be read that begins with `head`. What was asked for, or the extension says, has to agree with the
 * first character: a table that is read as JSON, or the other way round, has a fault in every line and none that helps.
 * @throws BrokenFileError where it does not
 */
function kindOf(head: string, wanted: ChangeFormat | undefined): FileKind {
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

export interface ReadOptions extends NamingOptions {
  /** The name of the file, for its extension; undefined for stdin. */
  readonly name: string | undefined;
  /** The format that was asked for: it goes before the extension. */
  readonly format: ChangeFormat | undefined;
  /** How many bytes are looked at together; default 65,536. */
  readonly pieceBytes?: number | undefined;
}

/** Takes the rows of a file, and what is wrong with it. */
export interface RowSink {
  readonly faults: FaultList;
  add(row: RawRow): void;
}

/**
 * Reads the rows of a file in any of its formats, up to its end or to where nothing after can be understood.
 * @throws what `source` throws
 */
export async function readRows(source: AsyncIterable<Uint8Array>, options: ReadOptions, sink: RowSink): Promise<void> {
  try {
    await readPieces(decodeText(source, options.pieceBytes ?? 65_536), options, sink);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    sink.faults.add(error.fault);
  }
}

async function readPieces(pieces: AsyncIterable<string>, options: ReadOptions, sink: RowSink): Promise<void> {
  let head = '';
  let reader: RowReader | undefined;
  for await (const piece of pieces) {
    if (reader !== undefined) {
      reader.write(piece);
      continue;
    }
    head += piece;
    if (!showsKind(head)) {
      if (head.length > longestRow) broken(1, 'the file begins with a megabyte of white space');
      continue;
    }
    reader = createReader(head, options, sink);
    reader.write(head);
    head = '';
  }
  reader ??= createReader(head, options, sink);
  reader.write(head);
  reader.end();
}

function createReader(head: string, { name, format, ...naming }: ReadOptions, sink: RowSink): RowReader {
  const kind = kindOf(head, format ?? (name === undefined ? undefined : formatOfName(name)));
  const { faults } = sink;
  const names = new FieldNames(naming);
  const add = sink.add.bind(sink);
  return kind === 'delimited' ? new DelimitedRows(faults, add, names) : createJsonRows(kind, { faults, names }, add);
}
