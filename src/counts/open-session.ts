import type { BarCodes } from '../inventory/bar-codes.ts';
import type { Clock, Deadline } from '../shared/clock.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import type { Processes } from '../shared/processes.ts';
import type { Connection } from '../state/sqlite/connection.ts';
import type { ScanRecord, SessionEnd, SessionHead } from './records.ts';
import { addScans } from './session-tables.ts';

interface SessionContent {
  readonly head: SessionHead;
  readonly codes: BarCodes;
  /** The scans that it had when it was taken. */
  readonly scans: readonly ScanRecord[];
}

/** A session that this process counts. */
export interface OpenSession extends SessionContent {
  /** It was neither ended nor closed. */
  readonly isOpen: boolean;
  /** What is done to it is kept. */
  readonly isKept: boolean;
  /** Adds scans. On disk when it returns. @throws FailureError; ConflictError if another process has taken the session */
  append(scans: readonly ScanRecord[]): void;
  /** Ends the session for good. On disk when it returns. */
  end(end: SessionEnd): void;
  /** Leaves the session to others. May be called again. */
  close(): void;
}

/** Milliseconds between two signs of life. */
const keepAliveEvery = 5000;

export class StoredSession implements OpenSession {
  readonly head: SessionHead;
  readonly codes: BarCodes;
  readonly scans: readonly ScanRecord[];
  readonly isKept = true;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #onEnd: (end: SessionEnd) => void;
  #deadline: Deadline | undefined;
  #isOpen = true;

  constructor(
    { head, codes, scans }: SessionContent,
    connection: Connection,
    { clock, processes }: { readonly clock: Clock; readonly processes: Processes },
    onEnd: (end: SessionEnd) => void,
  ) {
    this.head = head;
    this.codes = codes;
    this.scans = scans;
    this.#connection = connection;
    this.#clock = clock;
    this.#holder = JSON.stringify(processes.self);
    this.#onEnd = onEnd;
    this.#keepAlive();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  append(scans: readonly ScanRecord[]): void {
    if (scans.length > 0) this.#write(() => addScans(this.#connection, this.head.session, scans));
  }

  end(end: SessionEnd): void {
    this.#write(() => this.#onEnd(end));
    this.#leave();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#leave();
    try {
      const sql = 'UPDATE counts SET holder = NULL WHERE session = ? AND holder = ?';
      this.#connection.quick(() => this.#connection.run(sql, this.head.session, this.#holder));
    } catch {
      // Best effort: others see it too once this process has exited.
    }
  }

  #write(work: () => void): void {
    if (!this.#connection.isInPlace) {
      throw new FailureError(
        `The state in ${this.#connection.file} was removed while session ${this.head.session.slice(-4)} was counted: scan it again`,
      );
    }
    this.#connection.durable(() => {
      if (this.#touch() === 1) return work();
      throw new ConflictError(`Session ${this.head.session.slice(-4)} was taken over by another process`);
    });
  }

  /** Returns 1 if the session is still ours, else 0. */
  #touch(): number {
    const sql = 'UPDATE counts SET touched = ? WHERE session = ? AND holder = ? AND ended IS NULL';
    return this.#connection.run(sql, Math.round(this.#clock.now()), this.head.session, this.#holder);
  }

  #leave(): void {
    this.#isOpen = false;
    this.#deadline?.clear();
  }

  #keepAlive(): void {
    this.#deadline = this.#clock.deadline(keepAliveEvery, () => {
      this.#deadline?.clear();
      if (!this.#isOpen) return;
      try {
        this.#connection.quick(() => this.#touch());
      } catch {
        // The next scan says what is wrong.
      }
      void Promise.resolve().then(() => this.#isOpen && this.#keepAlive());
    });
  }
}

/** Returns a session of which nothing is kept, for a dry run. */
export function trialSession(content: SessionContent): OpenSession {
  let isOpen = true;
  const close = () => {
    isOpen = false;
  };
  return {
    ...content,
    isKept: false,
    get isOpen() {
      return isOpen;
    },
    append: () => {},
    end: close,
    close,
  };
}
