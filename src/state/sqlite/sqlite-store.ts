import type { Clock } from '../../shared/clock.ts';
import { UnavailableError } from '../../shared/errors.ts';
import { retryBusy } from '../../shared/sqlite-engine.ts';
import { type Answers, piecesOf, type Row, rewriting, type Statement } from '../statements.ts';
import type { Durability, Moment, StateTime, Store, Working } from '../store.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './sqlite-errors.ts';

/** How long a transaction that is not urgent waits for that of another process, in milliseconds. */
const briefWait = 50;
/** Milliseconds between attempts of one that is. SQLite hands the lock to whoever asks at the right moment: on a busy machine one may wait for long. */
const pauses: readonly number[] = [50, 50];

/** The clock of the state is the monotonic one of this machine. */
const same = (time: number) => time;

/** Runs works at once, inside one BEGIN IMMEDIATE: nothing is waited for while the lock is held. */
export class SqliteStore implements Store {
  readonly time: StateTime = { earliest: same, latest: same, localLatest: same };
  readonly generation = 0;
  readonly name: string;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #isAnyStopped: () => boolean;
  /** Services that have their number. */
  readonly #services = new Set<string>();

  /** @param isAnyStopped whether another process that has the state open is stopped: it may hold the lock for ever */
  constructor(connection: Connection, clock: Clock, isAnyStopped: () => boolean) {
    this.#connection = connection;
    this.#clock = clock;
    this.name = `The state in ${connection.file}`;
    this.#isAnyStopped = isAnyStopped;
  }

  get moment(): Store['moment'] {
    return { now: this.#clock.monotonic(), wall: this.#clock.now(), boot: this.#clock.boot() };
  }

  get isInPlace(): boolean {
    return this.#connection.isInPlace;
  }

  async transact<Result>(kind: Durability, service: string | undefined, work: Working<Result>): Promise<Result> {
    const connection = this.#connection;
    const run = () => this.#run(service, work);
    const result =
      kind === 'brief'
        ? connection.waitingAtMost(briefWait, () => connection.quick(run))
        : await this.#patiently(() => connection[kind](run));
    if (service !== undefined) this.#services.add(service);
    return result;
  }

  async ask(...statements: readonly Statement[]): Promise<Answers> {
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
    // Each row that is read of the first is a page.
    for (const pragma of ['incremental_vacuum', 'wal_checkpoint(TRUNCATE)']) this.#connection.all(`PRAGMA ${pragma}`);
  }

  /** SQLite waits without hearing anything: between two attempts Ctrl-C is heard. */
  #patiently<Result>(work: () => Result): Promise<Result> {
    const mayHelp = (error: unknown) =>
      error instanceof UnavailableError && isBusy(error.cause) && !this.#isAnyStopped();
    return retryBusy(work, pauses, (ms) => this.#clock.sleep(ms), mayHelp);
  }

  /** Inside a transaction. */
  #run<Result>(service: string | undefined, work: Working<Result>): Result {
    if (service !== undefined && !this.#services.has(service)) {
      this.#connection.run('INSERT INTO services (name) VALUES (?) ON CONFLICT (name) DO NOTHING', service);
    }
    const at: Moment = { ...this.moment, writes: [], drawn: 0 };
    const steps = work(at);
    let step = steps.next([]);
    while (!step.done) step = steps.next(step.value.map((asked) => this.askNow(asked)));
    for (const written of at.writes) this.askNow(written);
    return step.value;
  }
}

/** There is one schema, and it has no name. */
const ofSqlite = rewriting((sql) => sql.replaceAll('petstock.', ''));
