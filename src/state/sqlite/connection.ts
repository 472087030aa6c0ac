import { statSync } from 'node:fs';
import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/hint.ts';
import { isBusy, sqliteCodeOf, sqliteCodes } from '../../shared/sqlite-engine.ts';
import type { Row, Value } from '../statements.ts';
import type { Engine } from './engine.ts';

type Database = InstanceType<Engine['DatabaseSync']>;
type Statement = ReturnType<Database['prepare']>;

/** How long one attempt waits for the lock of another process, in milliseconds. */
const busyTimeout = 10_000;

/** Suffixes of the files that SQLite keeps beside a database. */
export const companions = ['-wal', '-shm'];

/** Pause in milliseconds between two attempts to turn on the write-ahead log, and their maximum number. */
const pause = 10;
const maxAttempts = 500;

/**
 * An open `state.db`. All writes go through `quick` or `durable`. Both run `work` synchronously, as a whole or not at
 * all, and hold the write lock from its start.
 */
export class SqliteConnection {
  readonly file: string;
  readonly #database: Database;
  readonly #inode: bigint;
  /**
   * The inodes of SQLite's companion files while the database is open. Removing these files cuts this process off from
   * the others.
   */
  #companions: readonly (bigint | undefined)[] | undefined;
  readonly #statements = new Map<string, Statement>();
  #synchronous = '';
  #isOpen = true;
  /** Describes the other present processes, for the message if the lock is not available. */
  whoIsPresent: () => readonly string[] = () => [];

  /**
   * @param file an existing file
   * @throws the errors of SQLite and of `node:fs` unchanged
   */
  constructor(engine: Engine, file: string) {
    this.file = file;
    this.#inode = statSync(file, { bigint: true }).ino;
    this.#database = new engine.DatabaseSync(file);
    // On macOS a sync that is not full leaves data in the disk's own cache. Elsewhere the setting has no effect.
    this.#database.exec(
      `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON`,
    );
  }

  /** Runs a transaction that is visible to every process at once, but that a power cut may lose. */
  quick<Result>(work: () => Result): Result {
    return this.#transaction('NORMAL', work);
  }

  /** Runs a transaction that is on disk when it returns. */
  durable<Result>(work: () => Result): Result {
    return this.#transaction('FULL', work);
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#guarded(() => this.#statement(sql).get(...values));
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#guarded(() => this.#statement(sql).all(...values));
  }

  /** @returns how many rows were changed */
  run(sql: string, ...values: Value[]): number {
    return this.#guarded(() => Number(this.#statement(sql).run(...values).changes));
  }

  exec(sql: string): void {
    this.#guarded(() => this.#database.exec(sql));
  }

  /**
   * Turns on the write-ahead log of a new or older file. SQLite does not wait while another process does the same, so
   * this method retries for 5 s.
   */
  useWriteAheadLog(): void {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#database.exec('PRAGMA journal_mode = WAL');
        return;
      } catch (error) {
        if (!isBusy(error) || attempt === maxAttempts) throw toPetstockError(error, this.file, this.whoIsPresent);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
      }
    }
  }

  /** Runs `work` with another time limit for locks. */
  waitingAtMost<Result>(ms: number, work: () => Result): Result {
    this.exec(`PRAGMA busy_timeout = ${ms}`);
    try {
      return work();
    } finally {
      this.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
    }
  }

  /** Whether the open file is still the one at its path, with its companion files. */
  get isInPlace(): boolean {
    if (inodeOf(this.file) !== this.#inode) return false;
    return this.#companions?.every((inode, index) => inode === inodeOf(`${this.file}${companions[index]}`)) ?? true;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#statements.clear();
    this.#database.close();
  }

  #transaction<Result>(synchronous: 'NORMAL' | 'FULL', work: () => Result): Result {
    return this.#guarded(() => {
      if (this.#synchronous !== synchronous) {
        // The pragma fails inside a transaction.
        this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
        this.#synchronous = synchronous;
      }
      this.#statement('BEGIN IMMEDIATE').run();
      this.#companions ??= companions.map((suffix) => inodeOf(`${this.file}${suffix}`));
      try {
        const result = work();
        this.#statement('COMMIT').run();
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guarded<Result>(work: () => Result): Result {
    if (!this.#isOpen) throw new FailureError(`The state in ${this.file} has been closed`);
    try {
      return work();
    } catch (error) {
      throw toPetstockError(error, this.file, this.whoIsPresent);
    }
  }
}

/** @returns undefined if the file does not exist */
export function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** SQLite's extended error code for a file that ends too early. */
const shortRead = 522;

const damaged: readonly unknown[] = [sqliteCodes.corrupt, sqliteCodes.notADatabase];
const unusable: readonly unknown[] = [sqliteCodes.readOnly, sqliteCodes.io, sqliteCodes.full, sqliteCodes.cantOpen];

/** Thrown if the content of the file is invalid or ends too early, or if the file was emptied. */
export class DamagedState extends FailureError {
  constructor(file: string, why: string, cause?: unknown) {
    super(`The state in ${file} is damaged (${why})`, {
      hint: `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`,
      cause,
    });
  }
}

/**
 * Returns SQLite's own error if the file can't be opened, read or written (disk full, read-only, no permission);
 * undefined otherwise, and for a damaged file.
 */
export function unusableBy(error: unknown): Error | undefined {
  if (error instanceof DamagedState) return undefined;
  const { cause } = error as Error;
  return [error, cause].find((one): one is Error => unusable.includes(sqliteCodeOf(one)));
}

/**
 * Converts an error of SQLite to one of petstock; returns any other error unchanged.
 * @param present returns one phrase per process that may hold the lock
 */
export function toPetstockError(error: unknown, file: string, present: () => readonly string[]): unknown {
  const code = sqliteCodeOf(error);
  if (code === undefined) return error;
  const { message, errcode } = error as Error & { readonly errcode?: unknown };
  if (isBusy(error)) {
    const others = present();
    const who = others.length === 0 ? 'another process' : `one of these processes: ${others.join('; ')}`;
    const hint = 'petstock state info';
    return new UnavailableError(`The state in ${file} has been locked for too long by ${who}`, { hint, cause: error });
  }
  if (damaged.includes(code) || errcode === shortRead) return new DamagedState(file, message, error);
  // The history and limits in the file are still needed, so there is no hint to use another folder.
  return new FailureError(`The state in ${file} can't be read or written (${message})`, { cause: error });
}
