import type { Clock, Deadline } from '../shared/clock.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import type { SqliteConnection } from '../state/sqlite/connection.ts';
import {
  addScans,
  type CountSessionOutcome,
  endSession,
  type ScanRecord,
  type SessionContent,
} from './session-tables.ts';

interface SessionSource {
  readonly connection: SqliteConnection;
  readonly clock: Clock;
  /** This process, as stored in the table. */
  readonly holder: string;
}

/** Milliseconds between two signs of life. */
const keepAliveEvery = 5000;

export class OpenCountSession implements SessionContent {
  readonly head: SessionContent['head'];
  readonly codes: SessionContent['codes'];
  readonly scans: ScanRecord[];
  #deadline: Deadline | undefined;
  #isOpen = true;

  /** @param store undefined for a dry run, because that stores nothing */
  constructor(
    { head, codes, scans }: SessionContent,
    private readonly store?: SessionSource,
  ) {
    this.head = head;
    this.codes = codes;
    this.scans = [...scans];
    this.#keepAlive();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isKept(): boolean {
    return this.store !== undefined;
  }

  /**
   * Adds scans. They are on disk when this method returns.
   * @throws FailureError if the state was removed or can't be written; ConflictError if another process has taken the
   * session
   */
  append(scans: readonly ScanRecord[]): void {
    if (scans.length > 0) this.#write((connection) => addScans(connection, this.head.session, scans));
    for (const scan of scans) this.scans.push(scan);
  }

  /** Ends the session for good. The end is on disk when this method returns. */
  end(end: CountSessionOutcome): void {
    this.#write((connection) => endSession(connection, this.head.session, end));
    this.#leave();
  }

  /** Releases the session for other processes. May be called again. */
  close(): void {
    if (!this.#isOpen) return;
    this.#leave();
    if (this.store === undefined) return;
    const { connection, holder } = this.store;
    try {
      const sql = 'UPDATE counts SET holder = NULL WHERE session = ? AND holder = ?';
      connection.quick(() => connection.run(sql, this.head.session, holder));
    } catch {
      // Once this process has exited, other processes can take the session anyway.
    }
  }

  #write(work: (connection: SqliteConnection) => void): void {
    if (this.store === undefined) return;
    const { connection } = this.store;
    const name = this.head.session.slice(-4);
    if (!connection.isInPlace) {
      this.#leave();
      throw new FailureError(
        `The state in ${connection.file} was removed or replaced during session ${name}, so its scans are lost and have to be counted again`,
      );
    }
    connection.durable(() => {
      if (!this.#touch()) throw new ConflictError(`Session ${name} was taken over or finished by another process`);
      work(connection);
    });
  }

  /** @returns whether this process still holds the session */
  #touch(): boolean {
    if (this.store === undefined) return true;
    const { connection, clock, holder } = this.store;
    const sql = 'UPDATE counts SET touched = ? WHERE session = ? AND holder = ? AND ended IS NULL';
    return connection.run(sql, Math.round(clock.now()), this.head.session, holder) === 1;
  }

  #leave(): void {
    this.#isOpen = false;
    this.#deadline?.clear();
  }

  #keepAlive(): void {
    this.#deadline = this.store?.clock.deadline(keepAliveEvery, () => {
      this.#deadline?.clear();
      if (!this.#isOpen) return;
      try {
        this.store?.connection.quick(() => this.#touch());
      } catch {
        // The next scan reports the error.
      }
      void Promise.resolve().then(() => this.#isOpen && this.#keepAlive());
    });
  }
}
