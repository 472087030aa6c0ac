import { chunksOf } from './batches.ts';
import { exactJson, memberJson } from './exact-json.ts';
import { type RenderOptions, type Row, type View, valueIn } from './view.ts';

type JsonOptions = Pick<RenderOptions, 'stringIds'>;

/**
 * Renders a list as an array with one item per line, so that it can be streamed and read by lines. A list with a head
 * is an object with the array as `rows`. The row of a view with the shape `one`, and the view's own `json`, are written
 * on one line. Ids are numbers with all digits, as in the API, or strings with `stringIds`.
 */
export async function* json(view: View, { stringIds = false }: JsonOptions): AsyncIterable<string> {
  const { rows, shape, head } = view;
  if (view.json !== undefined) return yield `${exactJson(view.json, stringIds)}\n`;
  const write = rowWriter(view, stringIds);
  if (shape === 'one') return yield* chunksOf(rows, (row) => `${write(row)}\n`);
  const lines = chunksOf(rows, (row) => write(row) + separator);
  yield* arrayOf(lines, head === undefined ? ['[', ']'] : around(exactJson(head, stringIds)));
}

/**
 * Renders one JSON value per line: the rows, or the view's own `json` (if it is a list, each of its items). An empty
 * list prints nothing.
 */
export async function* ndjson(view: View, { stringIds = false }: JsonOptions): AsyncIterable<string> {
  const { rows, inLines = {} } = view;
  if (view.json !== undefined) {
    const values: readonly unknown[] = Array.isArray(view.json) ? view.json : [view.json];
    return yield* chunksOf([values], (value) => `${exactJson(value, stringIds)}\n`);
  }
  const write = rowWriter(view, stringIds, inLines);
  yield* chunksOf(rows, (row) => `${write(row)}\n`);
}

/** Returns the text before and after the rows of an object. */
function around(head: string): [string, string] {
  const members = head.slice(0, -1);
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
 * @param front further members, in front of the others
 */
function rowWriter(
  { columns }: View,
  stringIds: boolean,
  front: Readonly<Record<string, unknown>> = {},
): (row: Row) => string {
  const before = Object.entries(front).map(([name, value]) => memberJson(name, value, stringIds));
  return (row) => {
    const members = [...before];
    for (const column of columns) {
      const value = valueIn(column, row) ?? null;
      if (value === null && column.isLeftOut) continue;
      members.push(memberJson(column.field, value, stringIds));
    }
    return `{${members.join(',')}}`;
  };
}
