import { isSameBoot } from '../rate-limit/key-state.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { number, type Row, type Statement, statement, text } from './statements.ts';

/** How far ahead a time of another boot is assumed to be, in milliseconds, if its row has no `lasts`. */
const longest = 120_000;

/**
 * Reads the times in the columns `boot`, `expires` and `lasts` of some rows. A time of another boot can't be compared
 * with this clock: that boot may have ended, or may belong to a container on this machine. Such a time is assumed to
 * come `lasts` milliseconds after a process of this boot first saw it; a renewal is a new time.
 * @returns a function that returns the time of a row by the clock of this boot; undefined if the row has none
 */
export function* leaseEnds(
  at: TransactionContext,
  rows: readonly Row[],
): TransactionSteps<(row: Row) => number | undefined> {
  const isOfOtherBoot = ({ boot, expires }: Row) =>
    number(expires) !== undefined && !isSameBoot(text(boot) ?? '', at.boot);
  const others = [...new Map(rows.filter(isOfOtherBoot).map((row) => [keyOf(row), row])).values()];
  const answers = yield others.map((row) => sightingOf(at, row));
  const known = new Map<string, number>();
  for (const [index, row] of others.entries()) {
    const seen = number(answers[index]?.[0]?.ends);
    const end = seen ?? at.now + (number(row.lasts) ?? longest);
    known.set(keyOf(row), end);
    if (seen === undefined) at.writes.push(sighted(at, row, end));
  }
  return (row) => known.get(keyOf(row)) ?? number(row.expires);
}

const keyOf = ({ boot, expires }: Row) => `${expires} ${boot}`;

function sightingOf(at: TransactionContext, { boot, expires }: Row): Statement {
  const sql = 'SELECT ends FROM petstock.sightings WHERE boot = ? AND of_boot = ? AND expires = ?';
  return statement(sql, at.boot, text(boot) ?? '', number(expires) ?? 0);
}

function sighted(at: TransactionContext, { boot, expires }: Row, end: number): Statement {
  return statement(
    `INSERT INTO petstock.sightings (boot, of_boot, expires, ends, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (boot, of_boot, expires) DO NOTHING`,
    ...[at.boot, text(boot) ?? '', number(expires) ?? 0, end, Math.round(at.wall)],
  );
}
