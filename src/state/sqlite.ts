import { hash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { Clock } from '../shared/clock.ts';
import { FailureError } from '../shared/errors.ts';
import { isBusy, retryBusy, sqlite } from '../shared/sqlite-engine.ts';
import { schemaVersion } from './schema.ts';
import {
  createPrivateFile,
  type Database,
  identityOf,
  lockFile,
  openStateFile,
  type StateFileOptions,
  sizeOf,
  stateFile,
  untilFree,
} from './state-file.ts';
import type { Lock, Moment, Store, StoreDescription, Transact, Turn, TurnWait } from './state-store.ts';
import { type Answer, type Answers, recordedRun, type Statement, type Value } from './statements.ts';

/**
 * Pauses between two attempts to take a lock, in milliseconds. Who waits for the turn itself is alone; many may wait in
 * line, so they try less often the longer they have waited.
 */
const pause = { single: 3, bulk: 6, longestInLine: 50 };
/** Pauses before a run counts as written by another process, which may only be looking at its lock. */
const runPauses = [1, 5, 10];

/** Opens the state in a folder; creates it if it is missing. Locks are files beside the database. */
export async function openSqlite(options: StateFileOptions): Promise<Store> {
  const store = new SqliteStore(await openStateFile(options), options);
  await store.correctTimes();
  return store;
}

class SqliteStore implements Store {
  readonly isFreshFor = 0;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #file: string;
  readonly #statements = new Map<string, ReturnType<Database['prepare']>>();
  readonly #locks = new Set<FileLock>();
  #isDurable: boolean | undefined;
  /** Names the files of the state, as they were when this process first wrote. */
  #identity: string | undefined;

  constructor(database: Database, { folder, clock }: StateFileOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#folder = folder;
    this.#file = stateFile(folder);
  }

  readonly transact: Transact = (questions, decide, isDurable = false) =>
    untilFree(this.#file, this.#clock, () => {
      const database = this.#database;
      // The pragma fails inside a transaction.
      if (this.#isDurable !== isDurable) database.exec(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`);
      this.#isDurable = isDurable;
      database.exec('BEGIN IMMEDIATE');
      try {
        this.#requireInPlace();
        const { writes, result } = decide(this.#run(questions), this.#moment());
        for (const { sql, values } of writes) this.#prepared(sql).run(...(values as Value[]));
        database.exec('COMMIT');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    });

  ask(questions: readonly Statement[]): Promise<{ readonly answers: Answers; readonly moment: Moment }> {
    return untilFree(this.#file, this.#clock, () => ({ moment: this.#moment(), answers: this.#run(questions) }));
  }

  /**
   * The clock was ahead when a request was recorded, or has been set back since: the request may be under way for at
   * most its own length from now.
   */
  async correctTimes(): Promise<void> {
    const now = this.#clock.now();
    const isLater = 'in_flight_until IS NOT NULL AND at > ?';
    const { answers } = await this.ask([{ sql: `SELECT 1 FROM rows WHERE ${isLater} LIMIT 1`, values: [now] }]);
    if (answers[0]?.length === 0) return;
    const sql = `UPDATE rows SET in_flight_until = in_flight_until - at + ?, at = ? WHERE ${isLater}`;
    await this.transact([], () => ({ writes: [{ sql, values: [now, now, now] }], result: undefined }));
  }

  async takeTurn(service: string, wait: TurnWait): Promise<Turn> {
    const name = hash('sha256', service).slice(0, 16);
    const turn = await takeInOrder((lock) => lockFile(this.#folder, `${lock}-${name}`), wait, this.#clock);
    return { transact: this.transact, ...this.#held(turn) };
  }

  async lockRun(run: string, isNew = false): Promise<Lock | undefined> {
    const lock = new FileLock(this.#lockOfRun(run));
    try {
      await retryBusy(
        () => lock.take(),
        runPauses,
        (ms) => this.#clock.sleep(ms),
        isBusy,
      );
      if (!isNew || (await this.ask([recordedRun(run)])).answers[0]?.length === 0) return this.#held(lock);
    } catch (error) {
      lock.close();
      if (!isBusy(error)) throw error;
    }
    lock.close();
    return undefined;
  }

  async lockedAmong(runs: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(runs.filter((run) => isLocked(this.#lockOfRun(run))));
  }

  forgetRun(run: string): void {
    rmSync(this.#lockOfRun(run), { force: true });
  }

  async describe(): Promise<StoreDescription> {
    const location = this.#file;
    return { engine: 'sqlite', location, schema: schemaVersion, bytes: sizeOf(location) };
  }

  async check(): Promise<readonly string[]> {
    const [findings = []] = (await this.ask([{ sql: 'PRAGMA integrity_check', values: [] }])).answers;
    return findings.map((finding) => String(Object.values(finding)[0])).filter((line) => line !== 'ok');
  }

  async reclaim(): Promise<void> {
    // The first pragma returns a row per freed page, and frees only the pages whose rows are read.
    const pragmas = ['incremental_vacuum', 'wal_checkpoint(TRUNCATE)'];
    await this.ask(pragmas.map((pragma) => ({ sql: `PRAGMA ${pragma}`, values: [] })));
  }

  async close(): Promise<void> {
    for (const lock of this.#locks) lock.close();
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  /** Other processes don't see what is written to a file that was removed or replaced. */
  #requireInPlace(): void {
    const found = identityOf(this.#file);
    this.#identity ??= found;
    if (found !== this.#identity) throw new FailureError(`The state in ${this.#file} was removed or replaced`);
  }

  #held(lock: FileLock): Lock {
    this.#locks.add(lock);
    return {
      isLost: false,
      release: async () => {
        this.#locks.delete(lock);
        lock.close();
      },
    };
  }

  #moment(): Moment {
    return { now: this.#clock.now(), at: this.#clock.monotonic() };
  }

  #run(statements: readonly Statement[]): Answers {
    return statements.map(({ sql, values }) => this.#prepared(sql).all(...(values as Value[])) as Answer[]);
  }

  #prepared(sql: string): ReturnType<Database['prepare']> {
    const prepared = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #lockOfRun(run: string): string {
    return lockFile(this.#folder, `run-${run}`);
  }
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
  const line = isBulk ? new FileLock(fileOf('bulk')) : undefined;
  const [next, turn] = [new FileLock(fileOf('next')), new FileLock(fileOf('turn'))];
  const began = clock.monotonic();
  let told = 1000;
  const until = async (isTaken: () => boolean, ms: number, longest = ms) => {
    for (let waited = 0; !isTaken(); ) {
      await clock.sleep(Math.min(Math.max(ms, waited / 10), longest), signal);
      waited = clock.monotonic() - began;
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
    signal.throwIfAborted();
    if (line === undefined) {
      await until(() => next.tryTake(), pause.single, pause.longestInLine);
      await until(() => turn.tryTake(), pause.single);
    } else {
      await until(() => line.tryTake(), pause.bulk, pause.longestInLine);
      await until(takeUnlessAwaited, pause.bulk);
    }
    return turn;
  } catch (error) {
    turn.close();
    throw error;
  } finally {
    next.close();
    line?.close();
  }
}

/** Reports whether a process has the lock of a file. The file is not created. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const lock = new FileLock(file);
  try {
    return !lock.tryTake();
  } finally {
    lock.close();
  }
}

/** A lock of the operating system, which ends with the process. */
class FileLock {
  readonly #database: Database;

  constructor(file: string) {
    createPrivateFile(file);
    this.#database = new (sqlite().DatabaseSync)(file, { timeout: 0 });
  }

  /** @throws an error of SQLite: `busy` if another process, or another lock of this one, has it */
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
