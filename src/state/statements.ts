import { plainName } from '../shared/sanitize.ts';

/**
 * A parameter of a statement. An integer beyond 2^53 is passed as a bigint and read as text: `CAST(pet_id AS TEXT)`.
 */
export type Value = string | number | bigint | null;
/** A result row. Engines differ in booleans and integers: read them with `number`, `text` and `flag`. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/**
 * A statement in the SQL that all engines share: `?` for each value, and tables with their schema, like
 * `petstock.rows`.
 */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  /**
   * Replaces `?*` by values in parentheses, or by several such tuples. The statement is sent once for each piece of the
   * list (at most 64 items), and not at all if the list is empty.
   */
  readonly list?: readonly (Value | readonly Value[])[];
}

export function statement(sql: string, ...values: readonly Value[]): Statement {
  return { sql, values };
}

export function among(sql: string, values: readonly Value[], list: NonNullable<Statement['list']>): Statement {
  return { sql, values, list };
}

/**
 * Splits a statement with a list into statements for the driver. Lists of any length share few SQL texts, so that each
 * text is prepared only once.
 */
export function piecesOf(whole: Statement): readonly Statement[] {
  const { sql, values, list } = whole;
  if (list === undefined) return [whole];
  const earlier = sql.slice(0, sql.indexOf('?*')).split('?').length - 1;
  const isOfTuples = Array.isArray(list[0]);
  const pieces: Statement[] = [];
  for (let from = 0, size = 64; from < list.length; from += size) {
    while (size > list.length - from) size /= 2;
    const piece = list.slice(from, from + size);
    const places = piece.map((item) => (Array.isArray(item) ? placeholdersOf(item.length) : '?'));
    const all = values.slice(0, earlier).concat(piece.flat(), values.slice(earlier));
    pieces.push({ sql: sql.replace('?*', isOfTuples ? places.join() : `(${places.join()})`), values: all });
  }
  return pieces;
}

/** Returns placeholders like `(?,?,?)`. */
const placeholdersOf = (length: number) => `(${'?,'.repeat(length).slice(0, -1)})`;

/** Returns a function that translates each SQL text once into an engine's dialect. */
export function rewriting(rewrite: (sql: string) => string): (sql: string) => string {
  const texts = new Map<string, string>();
  return (sql) => {
    const text = texts.get(sql) ?? rewrite(sql);
    texts.set(sql, text);
    return text;
  };
}

/** The rows of each query, in the order of the queries. */
export type ResultSets = readonly (readonly Row[])[];

export function text(value: Row[string] | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/**
 * Returns a stored name, made safe for messages, because anyone who can write to the state can store anything there.
 */
export function name(value: Row[string] | undefined): string {
  return plainName(String(value));
}

/** Returns the strings of a stored JSON array; none if the value is anything else. */
export function texts(value: Row[string] | undefined): string[] {
  const stored: unknown = json(value);
  return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
}

/** Parses stored JSON of any shape; undefined if it is invalid, because that must not end a command. */
export function json(value: Row[string] | undefined): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return undefined;
  }
}

/** Returns a numeric value as a number; all values of PostgreSQL arrive as text. */
export function number(value: Row[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/**
 * Returns a time in milliseconds since the Unix epoch, limited to the range of a `Date`: another process can have
 * stored any number.
 */
export function time(value: Row[string] | undefined): number | undefined {
  const ms = number(value);
  return ms === undefined ? undefined : Math.min(Math.max(ms || 0, -maxTime), maxTime);
}

const maxTime = 8.64e15;

export function flag(value: Row[string] | undefined): boolean | undefined {
  if (value === null || value === undefined) return undefined;
  return value === true || value === 't' || value === 'true' || Number(value) === 1;
}
