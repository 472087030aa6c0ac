import { capitalized, type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';
import type { Paint } from './terminal.ts';

export type Scalar = string | number | bigint | boolean | null;

/**
 * Values by field name. An absent value is shown as empty in text, as a dash in a table, and is null in JSON. A value
 * that is no scalar is one of JSON; it may contain bigint.
 */
export type Row = Readonly<Record<string, unknown>>;

export interface Column {
  /** The name in JSON, and the header in CSV and TSV. */
  readonly field: string;
  /** The header in a table. */
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * Whether tables never truncate the column, however narrow they are; lines may then be longer than the terminal.
   * Numbers are never truncated anyway.
   */
  readonly whole?: true;
  /**
   * Set if the text comes from outside. `words` have a bar in front of each line; a `name` has one only if it is
   * wrapped, or could be mistaken for petstock's text.
   */
  readonly foreign?: 'words' | 'name';
  /** Whether a table that is wider than the terminal may show the text completely, in lines below its row. */
  readonly under?: true;
  /** Whether this is a remark about the column before it, under that column's title. */
  readonly remark?: true;
  /** The usual value. In a table whose rows are all known, the column is left out if it has no other value. */
  readonly usual?: string;
  /**
   * On a narrow terminal, the column is truncated, and then left out, before columns with a lower rank. Columns
   * without a rank are never left out. It is also left out if it is empty in a table whose rows are all known.
   */
  readonly dropRank?: number;
  /** Returns the value of a row. Default: the one with the name of the field. */
  value?(row: Row): unknown;
  /** The columns that CSV and TSV have in place of this one, because its values are no scalars. */
  readonly flat?: readonly Column[];
  /** Returns the columns that a table or a page has in place of this one. */
  inTable?(options: Pick<RenderOptions, 'width'>): readonly Column[];
  /** Whether a table shows a dash for a value that is absent. */
  readonly showsDash?: true;
  /** Whether JSON leaves out the field of a row that has no value, instead of null. */
  readonly omitsAbsent?: true;
  /** Returns what a table or a page shows for a value. Other formats are not affected. */
  cell?(value: Scalar, row: Row, paint: Paint): string;
}

/** Returns columns for a file or a program, with the names of the fields as titles. */
export function plainColumns(fields: readonly string[]): readonly Column[] {
  return fields.map((field) => ({ field, title: field }));
}

/** Returns the columns of CSV and TSV, whose values are scalars. */
export function flatColumns(columns: readonly Column[]): readonly Column[] {
  return columns.flatMap((column) => column.flat ?? [column]);
}

export function valueIn({ field, value }: Column, row: Row): unknown {
  if (value !== undefined) return value(row);
  // A field may have the name of an inherited property.
  return field in Object.prototype && !Object.hasOwn(row, field) ? undefined : row[field];
}

/**
 * Returns the view of some properties: one row for programs; in a table one line for each property, some with a remark.
 * @param json the value for JSON, if it has more than the row
 */
export function factsView(flat: Row, lines: readonly Row[], json: unknown = flat): View & { readonly table: Grid } {
  const columns = factColumns.filter(({ field }) => lines.some((line) => field in line));
  const table = { columns, rows: [lines] };
  return { shape: 'list', isFacts: true, columns: plainColumns(Object.keys(flat)), rows: [[flat]], table, json };
}

/** Returns the view of one record, with right-aligned numbers and complete texts. */
export function recordView(record: Row): View {
  const columns = Object.entries(record).map(([field, value]) => ({
    field,
    title: capitalized(field),
    ...(typeof value === 'number' ? { align: 'right' as const } : { whole: true as const }),
  }));
  return { shape: 'one', columns, rows: [[record]] };
}

const factColumns: readonly Column[] = [
  { field: 'name', title: 'Name', whole: true },
  { field: 'value', title: 'Value', whole: true },
  { field: 'source', title: 'Source', whole: true },
];

export interface Grid {
  readonly columns: readonly Column[];
  readonly rows: Batches<Row>;
}

/** Plain data for output: columns and rows, of which each format is a function. Renderers write to no stream. */
export interface View extends Grid {
  /** With `one`, JSON has the single row as an object. */
  readonly shape: 'list' | 'one';
  /** Whether the text is useless when truncated, so that a narrow terminal shows a row with a line for each field. */
  readonly isWordy?: boolean;
  /** Whether all of the text is the service's, so that a table on a terminal has a bar in front of each line. */
  readonly isServiceText?: boolean;
  /**
   * Whether each row is a name, its value, and perhaps a remark. They are wrapped if they don't fit next to each other.
   */
  readonly isFacts?: boolean;
  /** Set unless an empty table is noted. */
  readonly noteWhenEmpty?: false;
  /** Members of JSON around the list: `{…head,"rows":[…]}`. May contain bigint. */
  readonly head?: Readonly<Record<string, unknown>>;
  /** Members that each line of NDJSON has in front of those of its row. */
  readonly inLines?: Readonly<Record<string, unknown>>;
  /** The value for JSON and NDJSON if it is not made of rows. May contain bigint. */
  readonly json?: unknown;
  /** The title, lines and marks of a page to print; absent if the view has no page. */
  readonly page?: Page;
  /** The columns and rows that a table or a page shows, if they differ from those for programs. */
  readonly table?: Partial<Grid> | (() => Promise<Grid>);
}

export interface Page {
  readonly title: string;
  /** Lines below the title. */
  readonly facts: readonly string[];
  mark?(row: Row): 'low' | 'bad' | undefined;
}

export const withPage = ['table', 'json', 'ndjson', 'csv', 'tsv', 'html'] as const;
/** `html` is for views with a page. */
export type Format = (typeof withPage)[number];
export const formats: readonly Format[] = withPage.filter((format) => format !== 'html');

export interface RenderOptions {
  /** Whether to print a header; undefined for the format's default (with a header, except in tsv). JSON has none. */
  readonly header: boolean | undefined;
  /** Characters per line; undefined for no limit. */
  readonly width: number | undefined;
  readonly paint: Paint;
  /** Whether CSV leaves formulas unchanged, although a spreadsheet would run them. */
  readonly raw?: boolean;
  /** Removes keys from what a table shows, before it is truncated or wrapped; default: removes nothing. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Whether pet ids are strings in JSON and NDJSON. Default: they are numbers. */
  readonly stringIds?: boolean;
}

/** Returns the view with the columns and rows that a table or a page shows. */
export async function inTable(view: View, options: RenderOptions): Promise<View> {
  const { table } = view;
  const shown = { ...view, ...(typeof table === 'function' ? await table() : table) };
  return { ...shown, columns: shown.columns.flatMap((column) => column.inTable?.(options) ?? [column]) };
}

/** Yields text in pieces of any size; every piece consists of whole lines. */
export type Renderer = (view: View, options: RenderOptions) => AsyncIterable<string>;

/** Values in batches, as they come from their source. */
export type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

const batchSize = 1000;

/**
 * Converts values lazily, in batches. The result can be read more than once if the source can.
 * @param source returns the values each time that the batches are read
 */
export function batchesOf<T, Converted>(
  source: () => AsyncIterable<T> | Iterable<T>,
  convert: (value: T) => Converted,
): Batches<Converted> {
  return {
    async *[Symbol.asyncIterator]() {
      let batch: Converted[] = [];
      for await (const value of source()) {
        batch.push(convert(value));
        if (batch.length < batchSize) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
  };
}

/** Length in characters at which a piece of output is yielded, so that writes are few and little memory is used. */
const largestChunk = 64 * 1024;

/**
 * Yields a head right before the first piece, or at the end if there is none, so that an error before the first row
 * leaves no output.
 */
export async function* headed<Piece>(head: Piece, pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (isFirst) yield head;
    isFirst = false;
    yield piece;
  }
  if (isFirst) yield head;
}

/** Converts values to text: one piece per batch, more for a large one, none for a batch without text. */
export async function* chunksOf<T>(batches: Batches<T>, textOf: (value: T) => string): AsyncGenerator<string, void> {
  for await (const batch of batches) {
    let text = '';
    for (const value of batch) {
      text += textOf(value);
      if (text.length < largestChunk) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}

/**
 * Returns the view with only some of its fields, in the given order, in every format: columns, or those that CSV has in
 * place of one.
 * @param values names separated by commas, each once in a value. An error lists the names.
 */
export function chosenFields(view: View, values: readonly string[]): Parsed<View> {
  const known = view.columns.flatMap((column) => [column, ...(column.flat ?? [])]);
  if (known.length === 0) return parsed(view);
  const list = `the fields are ${known.map(({ field }) => field).join(', ')}`;
  const chosen = new Map<string, Column>();
  for (const value of values) {
    const names = value.split(',').map((part) => part.trim());
    for (const [index, name] of names.entries()) {
      const column = known.find(({ field }) => field === name);
      if (name === '') return problem(`a field is empty: ${list}`);
      if (column === undefined) return problem(`${quoted(name)} is not a field: ${list}`);
      if (names.indexOf(name) < index) return problem(`${quoted(name)} is named twice: ${list}`);
      chosen.set(name, column);
    }
  }
  const columns = [...chosen.values()];
  const isWhole = columns.length === view.columns.length && columns.every((each, at) => each === view.columns[at]);
  if (isWhole) return parsed(view);
  const { inLines: _inLines, json: _json, table: _table, ...rest } = view;
  return parsed({ ...rest, columns: columns.map(({ omitsAbsent: _, ...column }) => column) });
}
