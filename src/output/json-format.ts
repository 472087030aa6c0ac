import { JsonNumber } from '../shared/json.ts';
import { chunksOf, type RenderOptions, type Row, type Scalar, type View, valueIn } from './view.ts';

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
      if (value === null && column.omitsAbsent) continue;
      members.push(memberJson(column.field, value, stringIds));
    }
    return `{${members.join(',')}}`;
  };
}

/** Matches text to which JSON.stringify would only add quotes. */
const plain = /^[ !#-[\]-~]*$/;
/** Matches characters that are valid in JSON but unsafe on a terminal; they are written as escapes. */
const harmful = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

function jsonString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(
    harmful,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a number in JSON, with all digits of a bigint; `null` if JSON has no such number. */
function jsonNumber(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isFinite(value) ? `${value}` : 'null';
}

/**
 * Returns compact JSON without losing digits: bigint and JsonNumber are written as their digits, a Map as an object in
 * its order. As in JSON.stringify, undefined is left out of objects and is null in arrays.
 * @param stringIds whether `petId`, and ids in a list `pets`, are strings, for readers with 53-bit numbers
 */
export function exactJson(value: unknown, stringIds = false): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'number':
    case 'bigint':
      return jsonNumber(value);
    case 'boolean':
      return `${value}`;
    case 'object':
      return value === null ? 'null' : objectJson(value, stringIds);
    default:
      return 'null';
  }
}

function objectJson(value: object, stringIds: boolean): string {
  if (Array.isArray(value)) return `[${value.map((one) => exactJson(one, stringIds)).join(',')}]`;
  if (value instanceof JsonNumber) return value.value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return exactJson(value.toJSON());
  const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
  const members: string[] = [];
  for (const [name, member] of entries) {
    if (member !== undefined) members.push(memberJson(`${name}`, member, stringIds));
  }
  return `{${members.join(',')}}`;
}

/** Returns `"name":value`. */
function memberJson(name: string, value: unknown, stringIds: boolean): string {
  let text: string;
  if (stringIds && name === 'petId') text = idJson(value);
  else if (stringIds && name === 'pets' && Array.isArray(value)) text = `[${value.map(idJson).join(',')}]`;
  else text = exactJson(value, stringIds);
  return `${jsonString(name)}:${text}`;
}

function idJson(value: unknown): string {
  const text = exactJson(value, true);
  return /^[-\d]/.test(text) ? `"${text}"` : text;
}

/** Matches integers of up to 40 digits. A longer number is no id, and converting it would take more than linear time. */
const integer = /^-?(0|[1-9]\d{0,39})$/;

/** Returns a scalar as it is; null for an absent value, an integer of JSON as a bigint, and any other value as JSON. */
export function scalarOf(value: unknown): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value as Scalar;
  const text = exactJson(value);
  return integer.test(text) ? BigInt(text) : text;
}
