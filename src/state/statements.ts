/** A parameter of a statement. An integer beyond 2^53 is passed as a bigint and read as text. */
export type Value = string | number | bigint | null;
/** A row of a result. The engines differ in numbers: read them with `number` and `text`. */
export type Answer = Readonly<Record<string, Value>>;
/** The rows of each statement, in their order. */
export type Answers = readonly (readonly Answer[])[];

/** A statement in the SQL that both engines share, with `?` for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

export function statement(sql: string, ...values: readonly Value[]): Statement {
  return { sql, values };
}

/** The most items in one statement. With more pets, SQLite searches without the index. */
export const maxItems = 64;

/**
 * Replaces `?*` by a list of values in parentheses. A long list makes several statements, an empty one makes none.
 * @param values the other values, in their order; those of the list are put in between
 */
export function among(sql: string, list: readonly Value[], ...values: readonly Value[]): Statement[] {
  return pieces(sql, list, values, (piece) => [`(${piece.map(() => '?')})`, piece]);
}

/**
 * Replaces `?*` by tuples, as in `VALUES ?*`. A long list makes several statements, an empty one makes none.
 * @param shape a tuple, like `(CAST(? AS integer), ?)`
 */
export function forEach(
  sql: string,
  shape: string,
  tuples: readonly (readonly Value[])[],
  ...values: readonly Value[]
): Statement[] {
  return pieces(sql, tuples, values, (piece) => [`${piece.map(() => shape)}`, piece.flat()]);
}

function pieces<Item>(
  sql: string,
  list: readonly Item[],
  values: readonly Value[],
  write: (piece: readonly Item[]) => [text: string, values: readonly Value[]],
): Statement[] {
  const earlier = sql.slice(0, sql.indexOf('?*')).split('?').length - 1;
  const found: Statement[] = [];
  for (let from = 0; from < list.length; from += maxItems) {
    const [text, own] = write(list.slice(from, from + maxItems));
    found.push({
      sql: sql.replace('?*', text),
      values: [...values.slice(0, earlier), ...own, ...values.slice(earlier)],
    });
  }
  return found;
}

/** Asks whether the history has a run: for one row. */
export function recordedRun(run: string): Statement {
  return statement('SELECT 1 AS found FROM runs WHERE run = ?', run);
}

/** Returns a stored number; undefined for NULL. PostgreSQL returns every value as text. */
export function number(value: Value | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export function text(value: Value | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/**
 * Returns a stored time in milliseconds since the Unix epoch, limited to the range of a `Date`: anyone who can write to a
 * shared state can store any number.
 */
export function time(value: Value | undefined): number | undefined {
  const ms = number(value);
  return ms === undefined ? undefined : Math.min(Math.max(ms || 0, -maxTime), maxTime);
}

const maxTime = 8.64e15;
