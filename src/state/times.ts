import { isSameBoot } from '../rate-limit/key-state.ts';
import { type Row, type Statement, statement } from './statements.ts';
import type { Moment, Work } from './store.ts';
import { number, text } from './stored-values.ts';

/** How far a time lay ahead that does not say so, in milliseconds. */
const longest = 120_000;

/**
 * Reads the times in the columns `boot`, `expires` and `lasts` of some rows. A time of another start of the machine says nothing by our clock: that
 * one may be a container beside us, or over. It lasts from when a process of this start has first seen it for as long as it lay ahead when it was
 * written, and anew once it has been renewed.
 * @returns a function that gives the time of one of the rows by the clock of this start; undefined if the row has none
 */
export function* endsOf(at: Moment, rows: readonly Row[]): Work<(row: Row) => number | undefined> {
  const isForeign = ({ boot, expires }: Row) => number(expires) !== undefined && !isSameBoot(text(boot) ?? '', at.boot);
  const foreign = [...new Map(rows.filter(isForeign).map((row) => [keyOf(row), row])).values()];
  const answers = yield foreign.map((row) => sightingOf(at, row));
  const known = new Map<string, number>();
  for (const [index, row] of foreign.entries()) {
    const seen = number(answers[index]?.[0]?.ends);
    const end = seen ?? at.now + (number(row.lasts) ?? longest);
    known.set(keyOf(row), end);
    if (seen === undefined) at.writes.push(sighted(at, row, end));
  }
  return (row) => known.get(keyOf(row)) ?? number(row.expires);
}

const keyOf = ({ boot, expires }: Row) => `${expires} ${boot}`;

function sightingOf(at: Moment, { boot, expires }: Row): Statement {
  const sql = 'SELECT ends FROM petstock.sightings WHERE boot = ? AND of_boot = ? AND expires = ?';
  return statement(sql, at.boot, text(boot) ?? '', number(expires) ?? 0);
}

function sighted(at: Moment, { boot, expires }: Row, end: number): Statement {
  return statement(
    `INSERT INTO petstock.sightings (boot, of_boot, expires, ends, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (boot, of_boot, expires) DO NOTHING`,
    ...[at.boot, text(boot) ?? '', number(expires) ?? 0, end, Math.round(at.wall)],
  );
}
