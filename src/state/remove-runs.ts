import { possibleWrites } from './decide.ts';
import type { Presence } from './processes-present.ts';
import { type Moment, number, statement, text, type Work } from './store.ts';

const possible = possibleWrites.map((result) => `'${result}'`).join();

/**
 * Removes a run, unless one that has begun since relies on it, or it undoes one that is there. Of each pet the number of its last write is kept.
 * @param wanted all runs that are to be removed
 * @returns whether it was removed
 */
export function* removing(at: Moment, presence: Presence, run: string, wanted: ReadonlySet<string>): Work<boolean> {
  const isOpen = 'pending + unknown > 0';
  const [[row] = [], relying = [], undone = []] = yield [
    statement('SELECT id, holder, touched FROM petstock.runs WHERE run = ?', run),
    statement(
      `SELECT run, began FROM petstock.runs WHERE ${isOpen} OR run IN (SELECT undoes FROM petstock.runs WHERE ${isOpen})`,
    ),
    statement('SELECT run FROM petstock.runs WHERE run = (SELECT undoes FROM petstock.runs WHERE run = ?)', run),
  ];
  if (row === undefined) return false;
  const holder = text(row.holder);
  const living = yield* presence.aliveAmong(at, holder === undefined ? [] : [holder]);
  const floor = Math.min(
    ...relying.filter((other) => !wanted.has(String(other.run))).map(({ began }) => number(began) ?? 0),
  );
  const isHeld = holder !== undefined && living.has(holder);
  if (isHeld || undone.length > 0 || (number(row.touched) ?? 0) > floor) {
    return false;
  }
  const id = number(row.id) ?? 0;
  at.writes.push(
    statement(
      `INSERT INTO petstock.pruned (pet_id, service, sequence)
         SELECT pet_id, service, max(touched) FROM petstock.rows WHERE run = ? AND result IN (${possible}) GROUP BY pet_id, service
         ON CONFLICT (pet_id, service) DO UPDATE SET sequence = excluded.sequence WHERE pruned.sequence < excluded.sequence`,
      id,
    ),
    statement('DELETE FROM petstock.rows WHERE run = ?', id),
    statement('DELETE FROM petstock.runs WHERE id = ?', id),
  );
  return true;
}
