import { lstatSync } from 'node:fs';
import type { RunRecord } from '../../inventory/run-records.ts';
import { effectiveUser } from '../../shared/account.ts';
import { type Engine, loadEngine, stateFile } from '../../state/sqlite/engine.ts';
import type { Row } from '../../state/statements.ts';

/** The facts by which a person knows a run. */
export interface RecentRun extends Pick<RunRecord, 'run' | 'at' | 'command' | 'env' | 'store' | 'file' | 'reason'> {
  /** The first 20, in decimal. */
  readonly pets: readonly string[];
  /** Rows in its plan. */
  readonly changes: number;
  /** Rows without an answer. */
  readonly open: number;
}

/** For another process that writes: milliseconds. */
const timeout = 200;

/**
 * The newest runs of the state of this machine, for one who is typing: nothing is made, moved or imported, and a state that
 * can't be read at once has none. It is open for reading alone.
 *
 * @param limit at most so many
 */
export async function recentRuns(
  folder: string,
  limit: number,
  load: () => Promise<Engine> = loadEngine,
): Promise<readonly RecentRun[]> {
  return (await rowsAtOnce(folder, query, limit, load)).map(recentRun);
}

/** Returns the stock-takes of this machine that are not finished, the newest first; as `recentRuns`. */
export async function unfinishedSessions(
  folder: string,
  limit: number,
): Promise<readonly { readonly session: string; readonly at: number }[]> {
  const rows = await rowsAtOnce(folder, sessionQuery, limit, loadEngine);
  return rows.map(({ session, at }) => ({ session: String(session), at: Number(at) }));
}

async function rowsAtOnce(
  folder: string,
  sql: string,
  limit: number,
  load: () => Promise<Engine>,
): Promise<readonly Row[]> {
  try {
    const file = stateFile(folder);
    if (!isOurs(file)) return [];
    const database = new (await load()).DatabaseSync(file, { readOnly: true, timeout });
    try {
      return database.prepare(sql).all(limit);
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

const sessionQuery = 'SELECT session, at FROM counts WHERE ended IS NULL ORDER BY at DESC LIMIT ?';

const query = `
  SELECT run, at, command, env, store, file, reason, pets, changes, pending + unknown AS open
  FROM runs ORDER BY sequence DESC LIMIT ?`;

/** A file that another user has put there is not read. */
function isOurs(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (effectiveUser() ?? stats.uid) === stats.uid;
}

function recentRun(row: Row): RecentRun {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    run: String(row.run),
    at: Number(row.at),
    command: String(row.command),
    env: String(row.env),
    store: text(row.store),
    file: text(row.file),
    reason: text(row.reason),
    pets: String(row.pets).match(/-?\d+/g) ?? [],
    changes: Number(row.changes),
    open: Number(row.open),
  };
}
