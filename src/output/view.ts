import type { ColumnBatches } from '../inventory/item-columns.ts';
import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';
import type { Paint } from './terminal.ts';

export type Scalar = string | number | bigint | boolean | null;

/** Values by field name. A field that a row lacks is shown as empty, and as null in JSON. */
export type Row = Readonly<Record<string, Scalar>>;

export interface Column {
  /** The name in JSON, and the header in CSV and TSV. */
  readonly field: string;
  /** The header in a table: words for a person. */
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** No table cuts it, however narrow: a line is rather longer than the terminal. Numbers are never cut anyway. */
  readonly whole?: true;
  /** Words that are not ours: each line of them has a bar in front; of a name only if it is wrapped, or is more than a name. */
  readonly foreign?: 'words' | 'name';
  /** If the table is wider than the terminal, its text is shown whole, in lines under its row. */
  readonly under?: true;
  /** Words about the column before it, under its title. */
  readonly remark?: true;
  /** Of a table whose rows are all known it is left out if nothing else is in it. */
  readonly usual?: string;
  /** On a narrow terminal it is cut, and then left out, before columns with a lower number or none. */
  readonly yields?: number;
  /** Returns what a table shows for a value. Never changes what the other formats print. */
  cell?(value: Scalar, row: Row, paint: Paint): string;
}

/** Returns the columns of a file or a program, whose titles are the names of the fields. */
export function plainColumns(fields: readonly string[]): readonly Column[] {
  return fields.map((field) => ({ field, title: field }));
}

export interface Grid {
  readonly columns: readonly Column[];
  readonly rows: Batches<Row>;
}

/** Plain data on its way to text. Renderers take a view and give text; they write to no stream. */
export interface View extends Grid {
  /** The same rows if they are items in columns, for formats that need no objects. Only one of the two can be read. */
  readonly items?: ColumnBatches;
  /** `one`: JSON prints the single row as an object. */
  readonly shape: 'list' | 'one';
  /** Its text says nothing when it is cut short: on a narrow terminal a row is shown with a line for each field. */
  readonly isWordy?: boolean;
  /** All of its words are the service's: on a terminal a table has a bar in front of each line. */
  readonly isForeign?: boolean;
  /** Each row is a name, its value, and perhaps a remark: if they do not fit beside each other, they are wrapped. */
  readonly isFacts?: boolean;
  /** The value for JSON and NDJSON if it is not simply the rows. May hold bigint. */
  readonly json?: unknown;
  /** Where JSON is an object around the rows, or a row is more in JSON than its columns. Goes before `json`. */
  readonly document?: JsonDocument;
  /** The rest of a page to print; absent: there is none. */
  readonly page?: Page;
  /** Shown instead of a table, if a person wants less than a program, or something to look at. */
  readonly table?: Partial<Grid> | ((options: RenderOptions) => Partial<Grid> | Promise<Partial<Grid>>);
}

export interface Page {
  readonly title: string;
  /** Lines below the title. */
  readonly facts: readonly string[];
  mark?(row: Row): 'low' | 'bad' | undefined;
}

/** JSON that is written row by row: `{…head,"rows":[…]}`, or `[…]` without a head. NDJSON is the rows alone. */
export interface JsonDocument {
  /** The members before `rows`. May hold bigint. */
  readonly head: Readonly<Record<string, unknown>> | undefined;
  /** Each row as it is written. May hold bigint. */
  readonly rows: Batches<object>;
  /** The rows of NDJSON if they say more than those of JSON, which has that in its head. */
  readonly lines?: Batches<object>;
}

export const withPage = ['table', 'json', 'ndjson', 'csv', 'tsv', 'html'] as const;
/** `html` is for views with a page. */
export type Format = (typeof withPage)[number];
export const formats: readonly Format[] = withPage.filter((format) => format !== 'html');

export interface RenderOptions {
  /** undefined: the format's own habit (table and csv with a header, tsv without). */
  readonly header: boolean | undefined;
  /** Characters that fit on a line; undefined: no limit. */
  readonly width: number | undefined;
  readonly paint: Paint;
  /** CSV: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw?: boolean;
  /** Takes keys out of what a table shows, before it is cut or wrapped; default: nothing is taken out. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Pet ids are strings in JSON and NDJSON; default: numbers. */
  readonly stringIds?: boolean;
}

export async function gridOf({ table }: View, options: RenderOptions): Promise<Partial<Grid> | undefined> {
  return typeof table === 'function' ? await table(options) : table;
}

/** Gives the text in pieces of any size; every piece is whole lines. */
export type Renderer = (view: View, options: RenderOptions) => AsyncIterable<string>;

/** The fields of an item, in the order in which they are shown. */
export const inventoryFields = ['petId', 'quantity', 'status'] as const;
export type InventoryField = (typeof inventoryFields)[number];

export function itemFields({ columns }: View): InventoryField[] {
  return columns.flatMap(({ field }) => inventoryFields.find((known) => known === field) ?? []);
}

/** Values in batches, as they come from their source. */
export type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

const batchSize = 1000;

/**
 * Values converted when they are wanted, in batches. Can be read more than once if the source can.
 * @param source is asked for the values again each time that the batches are read
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

/** Returns batches of other values, each converted once it is wanted. */
export async function* mapBatches<T, Converted>(
  batches: Batches<T>,
  convert: (value: T) => Converted,
): AsyncGenerator<readonly Converted[]> {
  for await (const batch of batches) yield batch.map(convert);
}

/** Large enough that a write costs nothing beside its content, small enough for the memory. In characters. */
export const largestChunk = 64 * 1024;

/** Yields a head right before the first piece, or at the end if there is none: what fails before its first row leaves nothing. */
export async function* headed<Piece>(head: Piece, pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (isFirst) yield head;
    isFirst = false;
    yield piece;
  }
  if (isFirst) yield head;
}

/** Values as text: a chunk for each batch, more for a large one, none for one without text. */
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
 * Reads the values of `--fields`: names from `known` with commas between them, each once in a value. The values of several
 * options add up.
 */
export function parseFields<Field extends string>(
  values: readonly string[],
  known: readonly Field[],
): Parsed<readonly Field[]> {
  const list = `the fields are ${known.join(', ')}`;
  const chosen = new Set<Field>();
  for (const value of values) {
    const own = new Set<Field>();
    for (const name of value.split(',').map((part) => part.trim())) {
      const field = known.find((each) => each === name);
      if (field === undefined)
        return problem(name === '' ? `a field is empty: ${list}` : `${quoted(name)} is not a field: ${list}`);
      if (own.has(field)) return problem(`${quoted(name)} is named twice: ${list}`);
      own.add(field);
      chosen.add(field);
    }
  }
  return parsed([...chosen]);
}

/** Returns the view with some of its fields alone, in the order given, in every format. A fault names those that it has. */
export function chosenFields(view: View, values: readonly string[]): Parsed<View> {
  const known = view.columns.map(({ field }) => field);
  // JSON has the counts of a run as one member.
  const members = view.document !== undefined && known.includes('notAttempted') ? [...known, 'counts'] : known;
  const fields = parseFields(values, members);
  if (!fields.ok) return known.length === 0 ? parsed(view) : fields;
  const { value } = fields;
  if (value.length === known.length && value.every((field, index) => field === known[index])) return parsed(view);
  const columns = value.flatMap((field): readonly Column[] => view.columns.filter((column) => column.field === field));
  const { document, json, table: _table, items: _items, ...rest } = view;
  return parsed({
    ...rest,
    columns,
    ...(document && {
      document: { head: document.head, rows: mapBatches(document.rows, (row) => picked(row, value)) },
    }),
    ...(Array.isArray(json) && { json: json.map((row) => picked(row, value)) }),
  });
}

/** A count is a field of its own in CSV, and a member of `counts` in JSON. */
function picked(row: object, fields: readonly string[]): object {
  const values = new Map<string, unknown>(Object.entries(row));
  const counts = new Map<string, unknown>(Object.entries(values.get('counts') ?? {}));
  return Object.fromEntries(fields.map((field) => [field, values.get(field) ?? counts.get(field) ?? null]));
}
