import { type Batches, chunksOf } from './batches.ts';
import { exactJson, memberJson } from './exact-json.ts';
import type { Column, RenderOptions, Row, View } from './view.ts';

type JsonOptions = Pick<RenderOptions, 'stringIds'>;

/**
 * Renders a list as an array with one item per line, so that it can be streamed and read by lines. A list with a head
 * is an object with the array as `rows`. The row of a view with the shape `one`, and the view's own `json`, are written
 * on one line. Ids are numbers with all digits, as in the API, or strings with `stringIds`.
 */
export async function* json(view: View, { stringIds = false }: JsonOptions): AsyncIterable<string> {
  const values = valuesOf(view, stringIds, false);
  if (values.isOne) yield* linesOf(values, '\n');
  else yield* arrayOf(linesOf(values, separator), around(view.document?.head, values.write));
}

/**
 * Renders one JSON value per line: the rows, or the view's own `json` (if it is a list, each of its items). An empty
 * list prints nothing.
 */
export async function* ndjson(view: View, { stringIds = false }: JsonOptions): AsyncIterable<string> {
  yield* linesOf(valuesOf(view, stringIds, true), '\n');
}

/**
 * Yields a line for each value.
 * @param end text after each line
 */
function linesOf({ values, write }: Values, end: string): AsyncIterable<string> {
  return chunksOf(values, (value) => write(value) + end);
}

interface Values {
  readonly values: Batches<object>;
  /** Whether this is a single value, not a list. */
  readonly isOne: boolean;
  write(value: unknown): string;
}

/**
 * Returns the values of a view for JSON.
 * @param isApart true for NDJSON: a list in the view's own `json` is split into its items
 */
function valuesOf({ document, json, columns, rows, shape }: View, stringIds: boolean, isApart: boolean): Values {
  const write = (value: unknown) => exactJson(value, stringIds);
  if (document !== undefined) {
    return { values: (isApart && document.lines) || document.rows, isOne: false, write };
  }
  if (json === undefined) return { values: rows, isOne: shape === 'one', write: jsonRowWriter(columns, stringIds) };
  return { values: [isApart && Array.isArray(json) ? json : [json]], isOne: true, write };
}

/** Returns the text before and after the rows of a document. */
function around(
  head: Readonly<Record<string, unknown>> | undefined,
  write: (value: unknown) => string,
): [string, string] {
  if (head === undefined) return ['[', ']'];
  const members = write(head).slice(0, -1);
  return [`${members}${members === '{' ? '' : ','}"rows":[`, ']}'];
}

const separator = ',\n';

/** Adds `open` and `close` around lines. Holds back one piece, because the last comma must be removed. */
async function* arrayOf(
  pieces: AsyncIterable<string>,
  [open, close]: readonly [string, string],
): AsyncIterable<string> {
  let held: string | undefined;
  for await (const piece of pieces) {
    yield held ?? `${open}\n`;
    held = piece;
  }
  const end = `${close}\n`;
  yield held === undefined ? open + end : `${held.slice(0, -separator.length)}\n${end}`;
}

/**
 * Returns a function that writes a row as an object on one line, with the columns as members in their order; absent
 * values are null.
 */
function jsonRowWriter(columns: readonly Column[], stringIds: boolean): Values['write'] {
  return (row) =>
    `{${columns.map(({ field }) => memberJson(field, (row as Row)[field] ?? null, stringIds)).join(',')}}`;
}
