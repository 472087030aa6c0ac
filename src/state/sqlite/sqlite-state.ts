import { statSync } from 'node:fs';
import type { KeyState } from '../../rate-limit/key-state.ts';
import type { Clock } from '../../shared/clock.ts';
import { UnavailableError } from '../../shared/errors.ts';
import type { ProcessIdentity } from '../../shared/processes.ts';
import { isBusy, retryBusy } from '../../shared/sqlite-engine.ts';
import { State, type StateOptions } from '../state.ts';
import type {
  Durability,
  StateDatabase,
  StateTime,
  TransactionBody,
  TransactionContext,
  TransactionSteps,
} from '../state-database.ts';
import { piecesOf, type ResultSets, type Row, rewriting, type Statement, statement } from '../statements.ts';
import { type Change, type Known, StoredLimits } from '../stored-limits.ts';
import { DamagedState, type SqliteConnection } from './connection.ts';

export function sqliteState(connection: SqliteConnection, options: StateOptions): State {
  const { clock } = options;
  connection.whoIsPresent = () => others(connection, options).map(({ phrase }) => phrase);
  const isAnyStopped = () => others(connection, options).some(({ isStopped }) => isStopped);
  const database = new SqliteStateDatabase(connection, clock, isAnyStopped);
  const { file } = connection;
  const engine = {
    database,
    limits: new SqliteLimits(database),
    describe: async () => ({ engine: 'sqlite', location: file, bytes: sizeOf(file) + sizeOf(`${file}-wal`) }),
    check: async () => damageOf(connection),
    queryWithoutTimeout: async (sql: string) => (await database.query(statement(sql)))[0] ?? [],
    close: async () => connection.close(),
  };
  return new State(engine, options);
}

function damageOf(connection: SqliteConnection): string[] {
  try {
    const findings = connection.all('PRAGMA integrity_check').map((row) => String(row.integrity_check));
    return findings.filter((finding) => finding !== 'ok');
  } catch (error) {
    // The damage may make the check itself fail.
    if (!(error instanceof DamagedState)) throw error;
    return [(error.cause as Error).message];
  }
}

/**
 * Returns the other processes that may hold the lock of the file, each with a phrase for messages. A stopped process
 * counts even if its lease has ended.
 */
function others(connection: SqliteConnection, { clock, processes }: StateOptions) {
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

/**
 * The `+` forces a scan, because the table usually has one row: a search would read the whole value of `state`, which
 * may span several pages.
 */
const selectChanged = 'SELECT version, state FROM petstock.limits WHERE +scope = ? AND version <> ?';

/** The limits of this machine. Every query reads the file. */
export class SqliteLimits extends StoredLimits {
  readonly #database: SqliteStateDatabase;

  constructor(database: SqliteStateDatabase) {
    super(database);
    this.#database = database;
  }

  peek(scope: string): KeyState {
    const known = this.known.get(scope);
    const [row] = this.#database.askNow(
      known === undefined ? this.reading(scope) : statement(selectChanged, scope, known.version),
    );
    return row === undefined && known !== undefined ? known.state : this.take(scope, row);
  }

  protected async write(scope: string, hasGate: boolean, change: Change): Promise<KeyState> {
    // A gate must survive a power cut, so that nothing is sent within a Retry-After that was seen. Other limits may be
    // lost.
    const kind = hasGate ? 'durable' : 'visible';
    const written = await this.#database.transact(kind, undefined, (at) => this.#work(at, scope, change));
    return this.keep(scope, written);
  }

  *#work({ writes }: TransactionContext, scope: string, change: Change): TransactionSteps<Known> {
    const [[row] = []] = yield [this.reading(scope)];
    this.take(scope, row);
    const { next, writing } = this.next(scope, (state) => change(state, false));
    writes.push(writing);
    return next;
  }
}

/** How long a `bestEffort` transaction waits for the lock, in milliseconds. */
const briefWait = 50;
/**
 * Pauses between attempts of any other transaction, in milliseconds. SQLite hands out its lock at random, so on a busy
 * machine a process may wait for long.
 */
const pauses: readonly number[] = [50, 50];

/** Returns a time unchanged, because the state's clock is this machine's monotonic clock. */
const same = (time: number) => time;

/** Runs each transaction synchronously inside one BEGIN IMMEDIATE: nothing is awaited while the lock is held. */
export class SqliteStateDatabase implements StateDatabase {
  readonly time: StateTime = { earliest: same, latest: same, localLatest: same };
  readonly generation = 0;
  readonly name: string;
  readonly #connection: SqliteConnection;
  readonly #clock: Clock;
  readonly #isAnyStopped: () => boolean;
  /** Names of services known to have a row in the table `services`. */
  readonly #services = new Set<string>();

  /** @param isAnyStopped whether another process that has the state open is stopped and may hold the lock forever */
  constructor(connection: SqliteConnection, clock: Clock, isAnyStopped: () => boolean) {
    this.#connection = connection;
    this.#clock = clock;
    this.name = `The state in ${connection.file}`;
    this.#isAnyStopped = isAnyStopped;
  }

  get moment(): StateDatabase['moment'] {
    return { now: this.#clock.monotonic(), wall: this.#clock.now(), boot: this.#clock.boot() };
  }

  get isInPlace(): boolean {
    return this.#connection.isInPlace;
  }

  async transact<Result>(
    kind: Durability,
    service: string | undefined,
    work: TransactionBody<Result>,
  ): Promise<Result> {
    const connection = this.#connection;
    const run = () => this.#run(service, work);
    const result =
      kind === 'bestEffort'
        ? connection.waitingAtMost(briefWait, () => connection.quick(run))
        : await this.#retryWhileBusy(() => (kind === 'durable' ? connection.durable(run) : connection.quick(run)));
    if (service !== undefined) this.#services.add(service);
    return result;
  }

  async query(...statements: readonly Statement[]): Promise<ResultSets> {
    return statements.map((asked) => this.askNow(asked));
  }

  askNow(asked: Statement): readonly Row[] {
    return piecesOf(asked).flatMap(({ sql, values }) => {
      const text = ofSqlite(sql);
      if (text.startsWith('SELECT')) return this.#connection.all(text, ...values);
      this.#connection.run(text, ...values);
      return [];
    });
  }

  async reclaim(): Promise<void> {
    // The first pragma returns a row per freed page, and frees only the pages whose rows are read.
    for (const pragma of ['incremental_vacuum', 'wal_checkpoint(TRUNCATE)']) this.#connection.all(`PRAGMA ${pragma}`);
  }

  /**
   * Retries a busy transaction, unless a stopped process may hold the lock. SQLite blocks this process while it waits,
   * so signals are handled only between the attempts.
   */
  #retryWhileBusy<Result>(work: () => Result): Promise<Result> {
    const mayHelp = (error: unknown) =>
      error instanceof UnavailableError && isBusy(error.cause) && !this.#isAnyStopped();
    return retryBusy(work, pauses, (ms) => this.#clock.sleep(ms), mayHelp);
  }

  #run<Result>(service: string | undefined, work: TransactionBody<Result>): Result {
    if (service !== undefined && !this.#services.has(service)) {
      this.#connection.run('INSERT INTO services (name) VALUES (?) ON CONFLICT (name) DO NOTHING', service);
    }
    const at: TransactionContext = { ...this.moment, writes: [], allocated: 0 };
    const steps = work(at);
    let step = steps.next([]);
    while (!step.done) step = steps.next(step.value.map((asked) => this.askNow(asked)));
    for (const written of at.writes) this.askNow(written);
    return step.value;
  }
}

/** SQLite has a single schema, without a name. */
const ofSqlite = rewriting((sql) => sql.replaceAll('petstock.', ''));
