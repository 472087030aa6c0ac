import { statSync } from 'node:fs';
import type { KeyState } from '../../rate-limit/key-state.ts';
import type { ProcessIdentity } from '../../shared/processes.ts';
import { State, type StateOptions } from '../state.ts';
import { statement } from '../statements.ts';
import type { Moment, Work } from '../store.ts';
import { type Change, type Known, StoredLimits } from '../stored-limits.ts';
import type { Connection } from './connection.ts';
import { DamagedState } from './sqlite-errors.ts';
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

/** The limits of this machine: the file is looked at whenever they are asked for. */
export class SqliteLimits extends StoredLimits {
  readonly #store: SqliteStore;

  constructor(store: SqliteStore) {
    super(store);
    this.#store = store;
  }

  peek(scope: string): KeyState {
    return this.take(scope, this.#store.askNow(this.reading(scope))[0]);
  }

  protected async write(scope: string, hasGate: boolean, change: Change): Promise<KeyState> {
    // A gate outlasts a power cut: nothing leaves within a Retry-After that was seen. The rest need not.
    const kind = hasGate ? 'durable' : 'quick';
    const written = await this.#store.transact(kind, undefined, (at) => this.#work(at, scope, change));
    return this.keep(scope, written);
  }

  *#work({ writes }: Moment, scope: string, change: Change): Work<Known> {
    const [[row] = []] = yield [this.reading(scope)];
    this.take(scope, row);
    const { next, writing } = this.next(scope, (state) => change(state, false));
    writes.push(writing);
    return next;
  }
}
