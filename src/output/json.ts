import { exactJson, jsonString, memberJson } from './exact-json.ts';
import type { ItemLineFormat } from './item-lines.ts';
import {
  type Batches,
  type Column,
  chunksOf,
  type InventoryField,
  itemFields,
  type RenderOptions,
  type Row,
  type View,
} from './view.ts';

type JsonOptions = Pick<RenderOptions, 'stringIds'>;

/**
 * A list is an array with one item per line, so that it streams and can be read by lines; one row is an object on one
 * line. Ids are numbers, as in the API, with every digit.
 */
export async function* json(view: View, { stringIds = false }: JsonOptions): AsyncIterable<string | Uint8Array> {
  if (view.items !== undefined) {
    const { itemPieces } = await import('./item-lines.ts');
    yield* jsonItems(itemPieces(view.items, jsonItemLine(view, separator, stringIds)));
    return;
  }
  const { values, isOne, write } = valuesOf(view, stringIds, false);
  if (isOne) yield* chunksOf(values, (value) => `${write(value)}\n`);
  else yield* jsonArray(values, write, around(view.document?.head, write));
}

/** One JSON value a line: the rows, or the items of the view's own value, or that value. An empty list prints nothing. */
export async function* ndjson(view: View, { stringIds = false }: JsonOptions): AsyncIterable<string | Uint8Array> {
  if (view.items !== undefined) {
    const { itemPieces } = await import('./item-lines.ts');
    yield* itemPieces(view.items, jsonItemLine(view, '\n', stringIds));
    return;
  }
  const { values, write } = valuesOf(view, stringIds, true);
  yield* chunksOf(values, (value) => `${write(value)}\n`);
}

interface Values {
  readonly values: Batches<object>;
  /** They are no list. */
  readonly isOne: boolean;
  write(value: unknown): string;
}

/** Returns what JSON has of a view, value by value. @param isApart a list that is one value counts as its items */
function valuesOf({ document, json, columns, rows, shape }: View, stringIds: boolean, isApart: boolean): Values {
  const write = (value: unknown) => exactJson(value, stringIds);
  if (document !== undefined) {
    return { values: (isApart && document.lines) || document.rows, isOne: false, write };
  }
  if (json === undefined) return { values: rows, isOne: shape === 'one', write: jsonRowWriter(columns, stringIds) };
  return { values: [isApart && Array.isArray(json) ? json : [json]], isOne: true, write };
}

/** The text before and after the rows of a document. */
function around(
  head: Readonly<Record<string, unknown>> | undefined,
  write: (value: unknown) => string,
): [string, string] {
  if (head === undefined) return ['[', ']'];
  const members = write(head).slice(0, -1);
  return [`${members}${members === '{' ? '' : ','}"rows":[`, ']}'];
}

const separator = ',\n';

/** Between `open` and `close` a value a line. One line is held back: only what follows it shows whether a comma does. */
async function* jsonArray<T>(
  values: Batches<T>,
  write: (value: T) => string,
  [open, close]: readonly [string, string],
): AsyncIterable<string> {
  let held: string | undefined;
  yield* chunksOf(values, (value) => {
    const before = held === undefined ? `${open}\n` : held + separator;
    held = write(value);
    return before;
  });
  yield held === undefined ? `${open}${close}\n` : `${held}\n${close}\n`;
}

/** One piece is held back: only the end of the items shows which comma is one too many. */
async function* jsonItems(pieces: AsyncIterable<Uint8Array>): AsyncIterable<string | Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    yield held ?? '[\n';
    held = piece;
  }
  if (held === undefined) {
    yield '[]\n';
    return;
  }
  yield Buffer.concat([held.subarray(0, -separator.length), Buffer.from('\n]\n')]);
}

/** An item on one line, as `jsonRowWriter` writes it, and what follows it. */
function jsonItemLine(view: View, end: string, stringIds: boolean): ItemLineFormat {
  const fields = itemFields(view);
  // The quotes of an id stand in what is around it, so that it is written no slower for them.
  const quote = (field: InventoryField | undefined) => (stringIds && field === 'petId' ? '"' : '');
  const cells = fields.map((field, index) => {
    const start = index === 0 ? '{' : `${quote(fields[index - 1])},`;
    return { field, before: `${start}"${field}":${quote(field)}` };
  });
  return { cells, end: `${quote(fields.at(-1))}}${end}`, status: jsonString };
}

/** Returns a function that makes a row an object on one line: the columns as members, in their order; absent values are null. */
function jsonRowWriter(columns: readonly Column[], stringIds: boolean): Values['write'] {
  return (row) =>
    `{${columns.map(({ field }) => memberJson(field, (row as Row)[field] ?? null, stringIds)).join(',')}}`;
}
