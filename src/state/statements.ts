import { plainName } from '../shared/sanitize.ts';

/** A value of a statement. An integer beyond 2^53 goes in as a bigint, and comes out as text: `CAST(pet_id AS TEXT)`. */
export type Value = string | number | bigint | null;
/** Booleans and integers come as each engine has them: read them with `integer`, `text` and `flag`. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** A statement in the SQL that all engines share: `?` for each value, and tables by their schema: `petstock.rows`. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  /** What stands in place of its `?*`: values in parentheses, or several such. It is asked in pieces, or not at all if there are none. */
  readonly list?: readonly (Value | readonly Value[])[];
}

export function statement(sql: string, ...values: readonly Value[]): Statement {
  return { sql, values };
}

/** Returns a statement about a list of any length. */
export function among(sql: string, values: readonly Value[], list: NonNullable<Statement['list']>): Statement {
  return { sql, values, list };
}

/** Returns what a driver asks or writes in place of a statement. Lists of any length have few texts, which are prepared once. */
export function piecesOf(whole: Statement): readonly Statement[] {
  const { sql, values, list } = whole;
  if (list === undefined) return [whole];
  const earlier = sql.slice(0, sql.indexOf('?*')).split('?').length - 1;
  const pieces: Statement[] = [];
  for (let from = 0, size = 64; from < list.length; from += size) {
    while (size > list.length - from) size /= 2;
    const piece = list.slice(from, from + size);
    const [first] = piece;
    const isOfTuples = Array.isArray(first);
    const flat = (isOfTuples ? piece.flat() : piece) as readonly Value[];
    const all = values.slice(0, earlier).concat(flat, values.slice(earlier));
    pieces.push({ sql: textOfPiece(sql, size, isOfTuples ? first.length : 0), values: all });
  }
  return pieces;
}

/** By their statement, and by their size and the length of their tuples: each is hashed once, wherever it is looked up. */
const textsOfPieces = new Map<string, Map<number, string>>();

/** @param length of a tuple; 0: it has none */
function textOfPiece(sql: string, size: number, length: number): string {
  const texts = textsOfPieces.get(sql) ?? new Map<number, string>();
  textsOfPieces.set(sql, texts);
  const key = size + length / 100;
  const places = () => (length === 0 ? placesOf(size) : Array(size).fill(placesOf(length)).join());
  const text = texts.get(key) ?? sql.replace('?*', places());
  texts.set(key, text);
  return text;
}

/** `(?,?,?)` */
const placesOf = (length: number) => `(${'?,'.repeat(length).slice(0, -1)})`;

/** Returns a function that puts each text of SQL into the words of an engine once. */
export function rewriting(rewrite: (sql: string) => string): (sql: string) => string {
  const texts = new Map<string, string>();
  return (sql) => {
    const text = texts.get(sql) ?? rewrite(sql);
    texts.set(sql, text);
    return text;
  };
}

/** Rows of each statement that was asked, in their order. */
export type ResultSets = readonly (readonly Row[])[];

export function text(value: Row[string] | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/** Returns a name that another process has stored, for messages: whoever can write to the state can put anything there. */
export function name(value: Row[string] | undefined): string {
  return plainName(String(value));
}

/** Returns the texts of a JSON array that another process has stored; none if it is anything else. */
export function texts(value: Row[string] | undefined): string[] {
  const stored: unknown = json(value);
  return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
}

/** Returns JSON that another process has stored, of any shape; undefined if it is none: it must not end a command. */
export function json(value: Row[string] | undefined): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return undefined;
  }
}

/** A number of any kind; a bigint of PostgreSQL comes as text. */
export function number(value: Row[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** Returns a time in milliseconds since the Unix epoch, or the nearest that a `Date` can be: another process can have stored any number. */
export function time(value: Row[string] | undefined): number | undefined {
  const ms = number(value);
  return ms === undefined ? undefined : Math.min(Math.max(ms || 0, -maxTime), maxTime);
}

const maxTime = 8.64e15;

export function flag(value: Row[string] | undefined): boolean | undefined {
  if (value === null || value === undefined) return undefined;
  return value === true || value === 't' || value === 'true' || Number(value) === 1;
}
