/** A value of a statement. An integer beyond 2^53 goes in as a bigint, and comes out as text: `CAST(pet_id AS TEXT)`. */
export type Value = string | number | bigint | null;
/** Booleans and integers come as each engine has them: read them with `integer`, `text` and `flag`. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** A statement in the SQL that all engines share: `?` for each value, and tables by their schema: `petstock.rows`. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

export function statement(sql: string, ...values: readonly Value[]): Statement {
  return { sql, values };
}

/** Splits into pieces of 64, 32, 16, and so on down to one, so that statements over several rows have few texts, and are prepared once. */
export function piecesOf<Item>(items: readonly Item[]): (readonly Item[])[] {
  const pieces: (readonly Item[])[] = [];
  for (let from = 0, size = 64; from < items.length; from += size) {
    while (size > items.length - from) size /= 2;
    pieces.push(items.slice(from, from + size));
  }
  return pieces;
}

/** `(?,?,?)`, for so many values. */
export function listOf({ length }: readonly unknown[]): string {
  return `(${'?,'.repeat(length).slice(0, -1)})`;
}

/** Returns statements that look at values in a list. @param sql ends in `IN `, and has the values that are given first */
export function among(sql: string, values: readonly Value[], list: readonly Value[]): Statement[] {
  return piecesOf(list).map((piece) => statement(sql + listOf(piece), ...values, ...piece));
}

/** Returns a function that puts each text of SQL into the words of an engine once. */
export function rewriting(rewrite: (sql: string) => string): (sql: string) => string {
  const texts = new Map<string, string>();
  return (sql) => {
    const text = texts.get(sql) ?? rewrite(sql);
    texts.set(sql, text);
    return text;
  };
}

/** Rows of each statement that was yielded, in their order. */
export type Answers = readonly (readonly Row[])[];
