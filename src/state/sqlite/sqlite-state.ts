import { statSync } from 'node:fs';
import type { ProcessIdentity } from '../../shared/processes.ts';
import { State, type StateOptions } from '../state.ts';
import { statement } from '../statements.ts';
import type { Connection } from './connection.ts';
import { DamagedState } from './sqlite-errors.ts';
import { SqliteLimits } from './sqlite-limits.ts';
import { SqliteStore } from './sqlite-store.ts';

/** Returns the state in an open file. */
export function sqliteState(connection: Connection, options: StateOptions): State {
  const { clock } = options;
  connection.whoIsPresent = () => others(connection, options).map(({ phrase }) => phrase);
  const isAnyStopped = () => others(connection, options).some(({ isStopped }) => isStopped);
  const store = new SqliteStore(connection, clock, isAnyStopped);
  const { file } = connection;
  const engine = {
    store,
    limits: new SqliteLimits(store),
    describe: async () => ({ engine: 'sqlite', location: file, bytes: sizeOf(file) + sizeOf(`${file}-wal`) }),
    check: async () => damageOf(connection),
    askAtLength: async (sql: string) => (await store.ask(statement(sql)))[0] ?? [],
    close: async () => connection.close(),
  };
  return new State(engine, options);
}

function damageOf(connection: Connection): string[] {
  try {
    const findings = connection.all('PRAGMA integrity_check').map((row) => String(row.integrity_check));
    return findings.filter((finding) => finding !== 'ok');
  } catch (error) {
    // Damage can be such that the check itself breaks off.
    if (!(error instanceof DamagedState)) throw error;
    return [(error.cause as Error).message];
  }
}

/** Other processes that may have the lock of the file, each as a phrase for messages. One that is stopped has no lease any more. */
function others(connection: Connection, { clock, processes }: StateOptions) {
  const self = JSON.stringify(processes.self);
  const rows = connection.all('SELECT identity, command, boot, expires FROM presence WHERE identity <> ?', self);
  return rows.flatMap((row) => {
    const identity = JSON.parse(String(row.identity)) as ProcessIdentity;
    const isStopped = processes.isStopped(identity);
    const isOver = row.boot === clock.boot() && Number(row.expires) <= clock.monotonic();
    if (!isStopped && (isOver || processes.isGone(identity))) return [];
    const stopped = isStopped ? ', which is stopped' : '';
    return [{ isStopped, phrase: `process ${identity.pid} on ${identity.host} (petstock ${row.command})${stopped}` }];
  });
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
