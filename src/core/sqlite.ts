import { hash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import { isBusy, retryBusy, sqlite } from '../shared/sqlite-engine.ts';
import { schemaVersion, tables } from './schema.ts';
import type { Answer, Answers, Statement, Value } from './statements.ts';
import type { Moment, Store, Transact, TurnWait } from './store.ts';

/** Pauses between two attempts to take a lock, in milliseconds. */
const pause = { single: 3, bulk: 6 };
/** How long a transaction waits for another one, in milliseconds. Each takes about one disk sync. */
const busyTimeout = 10_000;

export interface SqliteOptions {
  readonly folder: string;
  readonly clock: Clock;
}

/** Opens the state in a folder, which it creates. Locks are files beside the database. */
export async function openSqlite({ folder, clock }: SqliteOptions): Promise<Store> {
  mkdirSync(join(folder, 'locks'), { recursive: true });
  const database = new Database(join(folder, 'core.db'), clock);
  const fileOf = (name: string) => join(folder, 'locks', `${name}.lock`);
  return {
    isFreshFor: 0,
    transact: database.transact,
    ask: async (questions) => ({ moment: database.moment(), answers: database.run(questions) }),
    takeTurn: async (service, wait) => {
      const name = hash('sha256', service).slice(0, 16);
      const turn = await takeInOrder((lock) => fileOf(`${lock}-${name}`), wait, clock);
      return { transact: database.transact, isLost: false, release: async () => turn.close() };
    },
    lockRun: async (run) => {
      const lock = new FileLock(fileOf(`run-${run}`));
      const isTaken = await retryBusy(() => lock.take(), [1, 5, 10], clock.sleep, isBusy).then(
        () => true,
        (error) => {
          lock.close();
          if (!isBusy(error)) throw error;
          return false;
        },
      );
      return isTaken ? { isLost: false, release: async () => lock.close() } : undefined;
    },
    lockedAmong: async (runs) =>
      new Set(
        runs.filter((run) => {
          const lock = new FileLock(fileOf(`run-${run}`));
          try {
            return !lock.tryTake();
          } finally {
            lock.close();
          }
        }),
      ),
    describe: async () => ({ engine: 'sqlite', location: folder, schema: schemaVersion, bytes: 0, warnings: [] }),
    check: async () => [],
    reclaim: async () => {},
    forgetRun: (run) => rmSync(fileOf(`run-${run}`), { force: true }),
    close: async () => database.close(),
  };
}

/**
 * Takes the turn in order of arrival. A single change takes `next` and keeps it until it has the turn, so that none can
 * overtake it. Bulk runs line up at a lock of their own, and take the turn only while no single change waits.
 */
async function takeInOrder(
  fileOf: (name: string) => string,
  { isBulk, signal, onWait }: TurnWait,
  clock: Clock,
): Promise<FileLock> {
  const [line, next, turn] = [isBulk ? 'bulk' : undefined, 'next', 'turn'].map(
    (name) => name && new FileLock(fileOf(name)),
  ) as [FileLock | undefined, FileLock, FileLock];
  const began = clock.monotonic();
  let told = 1000;
  const until = async (isTaken: () => boolean, ms: number) => {
    while (!isTaken()) {
      await clock.sleep(ms, signal);
      const waited = clock.monotonic() - began;
      if (waited < told) continue;
      told = waited + 1000;
      await onWait(waited);
    }
  };
  const takeUnlessAwaited = () => {
    if (!next.tryTake()) return false;
    const isTaken = turn.tryTake();
    if (!isTaken) next.release();
    return isTaken;
  };
  try {
    if (line !== undefined) await until(() => line.tryTake(), pause.bulk);
    else await until(() => next.tryTake(), pause.single);
    await (line !== undefined ? until(takeUnlessAwaited, pause.bulk) : until(() => turn.tryTake(), pause.single));
    return turn;
  } catch (error) {
    turn.close();
    throw error;
  } finally {
    next.close();
    line?.close();
  }
}

/** A lock of the operating system, which ends with the process. */
class FileLock {
  readonly #database;

  constructor(file: string) {
    this.#database = new (sqlite().DatabaseSync)(file, { timeout: 0 });
  }

  take(): void {
    // With a journal in memory, no file is made and removed for each lock.
    this.#database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  }

  tryTake(): boolean {
    try {
      this.take();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  release(): void {
    this.#database.exec('ROLLBACK');
  }

  /** Releases the lock for good. May be called again. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

class Database {
  readonly #clock: Clock;
  readonly #database;
  readonly #statements = new Map<string, { all(...values: Value[]): unknown }>();
  #isDurable: boolean | undefined;

  constructor(file: string, clock: Clock) {
    this.#clock = clock;
    this.#database = new (sqlite().DatabaseSync)(file, { timeout: busyTimeout });
    const { user_version: version } = this.#database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version !== schemaVersion) this.#create();
  }

  #create(): void {
    for (let attempts = 500; ; attempts -= 1) {
      try {
        this.#database.exec('PRAGMA journal_mode = WAL');
        break;
      } catch (error) {
        // SQLite does not wait here.
        if (!isBusy(error) || attempts === 0) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
    this.#database.exec('BEGIN IMMEDIATE');
    const { user_version: version } = this.#database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version !== schemaVersion) this.#database.exec(`${tables}; PRAGMA user_version = ${schemaVersion}`);
    this.#database.exec('COMMIT');
  }

  moment(): Moment {
    return { now: this.#clock.now(), at: this.#clock.monotonic() };
  }

  run(statements: readonly Statement[]): Answers {
    return statements.map(({ sql, values }) => {
      let prepared = this.#statements.get(sql);
      if (prepared === undefined) {
        prepared = this.#database.prepare(sql);
        this.#statements.set(sql, prepared);
      }
      return prepared.all(...values) as Answer[];
    });
  }

  readonly transact: Transact = async (questions, decide, durable = false) => {
    if (this.#isDurable !== durable) this.#database.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.#isDurable = durable;
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const { writes, result } = decide(this.run(questions), this.moment());
      this.run(writes);
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  };

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}
