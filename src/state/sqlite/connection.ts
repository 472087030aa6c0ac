import { statSync } from 'node:fs';
import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/hint.ts';
import { sqliteCodeOf, sqliteCodes } from '../../shared/sqlite-engine.ts';
import { otherFolderHint } from '../state-database.ts';
import type { Row, Value } from '../statements.ts';
import type { Engine } from './engine.ts';

type Database = InstanceType<Engine['DatabaseSync']>;
type Statement = ReturnType<Database['prepare']>;

/** How long a transaction waits for that of another process: milliseconds. */
export const busyTimeout = 10_000;

/** The files that SQLite keeps beside a database; they belong to it and to no other. */
export const companions = ['-wal', '-shm'];

/** Between two attempts to turn on the write-ahead log: milliseconds, and how many. */
const pause = 10;
const maxAttempts = 500;

/**
 * One open `state.db`. All writes go through `quick` or `durable`; both run `work` at once, whole or not at all, and hold the
 * write lock from its start. `work` never waits for anything else.
 */
export class SqliteConnection {
  readonly file: string;
  readonly #database: Database;
  readonly #inode: bigint;
  /** Of what SQLite keeps beside the file while it is open: whoever removes it cuts this process off from the others. */
  #companions: readonly (bigint | undefined)[] | undefined;
  readonly #statements = new Map<string, Statement>();
  #synchronous = '';
  #isOpen = true;
  /** Says who else is present, for the message when the lock is not to be had. */
  whoIsPresent: () => readonly string[] = () => [];

  /** @param file an existing one. @throws the errors of SQLite and of `node:fs` as they are */
  constructor(engine: Engine, file: string) {
    this.file = file;
    this.#inode = statSync(file, { bigint: true }).ino;
    this.#database = new engine.DatabaseSync(file);
    // On macOS a sync that is not full leaves what it has written in the disk's own memory. Elsewhere it means nothing.
    this.#database.exec(
      `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON`,
    );
  }

  /** Visible to every other process at once; a power cut may take it back. */
  quick<Result>(work: () => Result): Result {
    return this.#transaction('NORMAL', work);
  }

  /** On disk when it returns. */
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

  /** Turned on once for a file. SQLite does not wait while another process does the same: the second one finds it done. */
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

  /** Runs `work` with another time to wait for a lock. */
  waitingAtMost<Result>(ms: number, work: () => Result): Result {
    this.exec(`PRAGMA busy_timeout = ${ms}`);
    try {
      return work();
    } finally {
      this.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
    }
  }

  /** Whether the file that is open is the one at its path, with its log beside it. */
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
        // Inside a transaction it would have no effect.
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

/** @returns undefined if there is no such file */
export function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** An extended code of `io`. */
const shortRead = 522;

const damaged: readonly unknown[] = [sqliteCodes.corrupt, sqliteCodes.notADatabase];
const unusable: readonly unknown[] = [sqliteCodes.readOnly, sqliteCodes.io, sqliteCodes.full, sqliteCodes.cantOpen];

/** The content of the file makes no sense, or ends too early. */
export class DamagedState extends FailureError {
  constructor(file: string, why: string, cause?: unknown) {
    super(`The state in ${file} is damaged (${why})`, {
      hint: `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`,
      cause,
    });
  }
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === sqliteCodes.busy || code === sqliteCodes.locked;
}

/** Returns the error of SQLite itself if the file can't be opened or written: a full disk, a read-only one, the rights. */
export function unusableBy(error: unknown): Error | undefined {
  if (error instanceof DamagedState) return undefined;
  const { cause } = error as Error;
  return [error, cause].find((one): one is Error => unusable.includes(sqliteCodeOf(one)));
}

/**
 * Returns an error of SQLite in words.
 * @param present one phrase for each process that is present
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
  return new FailureError(`The state in ${file} can't be read or written (${message})`, {
    // Of a disk that is full the history is still needed, and what it knows of the limits.
    hint: code === sqliteCodes.full ? undefined : otherFolderHint,
    cause: error,
  });
}
