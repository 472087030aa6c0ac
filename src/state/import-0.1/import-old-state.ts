import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { encodeState } from '../../rate-limit/key-state.ts';
import type { Processes } from '../../shared/processes.ts';
import { serviceOf } from '../service-of.ts';
import { type BegunRun, insertRun } from '../sqlite/begin-run.ts';
import type { Connection } from '../sqlite/connection.ts';
import { CountChanges, markUndone } from '../sqlite/settle-rows.ts';
import { oldLedgers, readOldLedger } from './old-limits.ts';
import { type OldRow, type OldRun, oldRunFiles, readOldRun } from './old-runs.ts';

interface ImportOptions {
  readonly processes: Processes;
  /** Takes a sentence for stderr. */
  warn(line: string): void;
}

const historyFolder = 'history';
const limitsFolder = 'limits';

/** Whether petstock 0.1.0 has left anything that could be imported. */
export function hasOldState(folder: string): boolean {
  return oldLedgers(join(folder, limitsFolder)).size > 0 || oldRunFiles(join(folder, historyFolder)).length > 0;
}

/**
 * Inside the transaction that makes a new state: takes over the limits and the runs of petstock 0.1.0. A file that can't be read
 * is named in a warning, and stays where it is.
 */
export function importOldState(folder: string, connection: Connection, { warn, processes }: ImportOptions): void {
  const reading = (path: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      warn(`${path} of petstock 0.1.0 can't be read, and is left out (${(error as Error).message})`);
    }
  };
  for (const [scope, name] of oldLedgers(join(folder, limitsFolder))) {
    reading(join(folder, limitsFolder, name), () => importLimits(connection, scope, join(folder, limitsFolder), name));
  }
  const history = join(folder, historyFolder);
  const undos: [BegunRun, readonly number[]][] = [];
  for (const name of oldRunFiles(history)) {
    reading(join(history, name), () => {
      const old = readOldRun(history, name);
      const begun = importRun(connection, old, processes.self.host);
      if (old.undoes !== undefined) undos.push([begun, old.rows.filter(isApplied).map(({ planned }) => planned.line)]);
      if (old.lost > 0) warn(`Run ${old.run} of petstock 0.1.0 is damaged: ${old.lost} of its rows can't be read`);
    });
  }
  // Once all are there: a run may come before the undo of it by less than a second.
  for (const [undo, rows] of undos) for (const row of rows) markUndone({ connection }, undo, row);
  orderByTime(connection);
}

/** To be called once the import is on disk: its files keep their content under another name. */
export function retireOldState(folder: string, warn: (line: string) => void): void {
  for (const name of [limitsFolder, historyFolder]) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    try {
      renameSync(path, `${path}.imported-0.1`);
    } catch (error) {
      warn(`${path} was imported, and can't be renamed (${(error as Error).message})`);
    }
  }
}

function importLimits(connection: Connection, scope: string, folder: string, name: string): void {
  const state = readOldLedger(folder, name);
  if (state.boot === '') return;
  const json = JSON.stringify(encodeState(state));
  connection.run('INSERT INTO limits (scope, version, state) VALUES (?, 1, ?)', scope, json);
}

function importRun(connection: Connection, old: OldRun, host: string): BegunRun {
  const { at, run, rows, env, baseUrl } = old;
  const service = env === 'sandbox' ? 'sandbox' : serviceOf(baseUrl);
  const head = { ...old, service, store: undefined };
  const planned = rows.map((row) => row.planned);
  const begun = insertRun({ connection }, run, { head, at, host, holder: undefined }, planned);
  const counts = new CountChanges();
  for (const row of rows) importOutcome(connection, begun, old.isPlanned ? row : neverPlanned(row), counts);
  counts.write({ connection }, begun.id);
  return begun;
}

/** A plan that was not written whole can't be resumed, and nothing of it was sent. */
function neverPlanned(row: OldRow): OldRow {
  const error = { code: 'never_sent', message: 'The run broke off before anything of it was sent' };
  return { ...row, result: 'failed', error };
}

function importOutcome(connection: Connection, run: BegunRun, row: OldRow, counts: CountChanges): void {
  const { result, quantity, error, at, planned } = row;
  if (result === 'pending' && at === undefined) return;
  connection.run(
    'UPDATE rows SET result = ?, quantity = ?, error = ?, at = ? WHERE run = ? AND row = ?',
    result,
    quantity ?? null,
    error === undefined ? null : JSON.stringify(error),
    at ?? null,
    run.id,
    planned.row,
  );
  counts.move('pending', result);
}

function isApplied({ result }: OldRow): boolean {
  return result === 'applied';
}

/** Puts the rows of all runs into one order: by their last intent or outcome, else by the beginning of their run. */
function orderByTime(connection: Connection): void {
  connection.exec(`
    UPDATE rows SET sequence = place, touched = place FROM (
      SELECT rows.run, rows.row, row_number() OVER (ORDER BY coalesce(rows.at, runs.at), rows.run, rows.row) AS place
      FROM rows JOIN runs ON runs.id = rows.run
    ) AS ordered WHERE rows.run = ordered.run AND rows.row = ordered.row`);
}
