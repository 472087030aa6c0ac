import { isSameBoot } from '../../rate-limit/key-state.ts';
import type { Clock, Deadline } from '../../shared/clock.ts';
import { FailureError } from '../../shared/errors.ts';
import type { Processes, ProcessIdentity } from '../../shared/processes.ts';
import { otherFolderHint } from '../other-folder.ts';
import type { Presence, PresentProcess } from '../presence.ts';
import type { Connection } from './connection.ts';
import type { Row } from './engine.ts';

/** Milliseconds after which a lease is renewed, and after which it is over. */
const renewal = 5000;
const lease = 15_000;
/** The dead are kept for so long after the end of their lease: a process that was stopped may come back. */
const keptFor = 60_000;
/** A renewal by the clock is not urgent enough to hold up everything else for a lock. */
const patience = 50;

export interface PresenceOptions {
  readonly clock: Clock;
  readonly processes: Processes;
  readonly command: string;
  /** Why nothing may be written by this state: a sentence. The limits are no part of it. */
  readonly refusal?: string | undefined;
}

/** The table of those who write. A process enters it with its first `hold`. */
export class SqlitePresence implements Presence {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #processes: Processes;
  readonly #command: string;
  readonly #refusal: string | undefined;
  #id: number | undefined;
  #expires = Number.POSITIVE_INFINITY;
  #deadline: Deadline | undefined;
  #isClosed = false;
  /** Requests of this process that may leave, or are on their way. */
  readonly #outstanding = new Map<object, number>();

  constructor(connection: Connection, { clock, processes, command, refusal }: PresenceOptions) {
    this.#connection = connection;
    this.#clock = clock;
    this.#processes = processes;
    this.#command = command;
    this.#refusal = refusal;
  }

  get isCurrent(): boolean {
    return this.#hasLease && this.#connection.isInPlace;
  }

  get #hasLease(): boolean {
    return this.#clock.monotonic() < this.#expires;
  }

  /**
   * Whether nothing new may be held: the lease of this process was over, so what it holds may be another's by now, and some of
   * that has not had its outcome yet. Renewing the lease would let those requests leave.
   */
  get isStale(): boolean {
    return !this.#hasLease && this.#outstanding.size > 0;
  }

  /** @param count how many requests of a run may leave or are on their way */
  setOutstanding(run: object, count: number): void {
    if (count > 0) this.#outstanding.set(run, count);
    else this.#outstanding.delete(run);
  }

  /**
   * Runs a transaction in which this process is present: whatever is the beginning of a write.
   * @param work is given the id of this process
   */
  hold<Result>(kind: 'quick' | 'durable', work: (holder: number) => Result): Result {
    if (this.#refusal !== undefined) {
      throw new FailureError(`${this.#refusal}; without a history nothing is written, so nothing was sent`, {
        hint: otherFolderHint,
      });
    }
    const before = { id: this.#id, expires: this.#expires };
    try {
      return this.#connection[kind](() => work(this.#renewed()));
    } catch (error) {
      this.#id = before.id;
      this.#expires = before.expires;
      throw error;
    } finally {
      this.#schedule();
    }
  }

  /** Inside a transaction. @returns whether a process is there, as far as is known */
  isAlive(holder: number): boolean {
    if (holder === this.#id) return true;
    const row = this.#connection.get('SELECT * FROM presence WHERE id = ?', holder);
    return row !== undefined && this.#isPresent(row);
  }

  identityOf(holder: number): ProcessIdentity | undefined {
    const row = this.#connection.get('SELECT * FROM presence WHERE id = ?', holder);
    return row && identityIn(row);
  }

  async list(): Promise<readonly PresentProcess[]> {
    return this.listNow();
  }

  listNow(): PresentProcess[] {
    const rows = this.#connection.all('SELECT * FROM presence ORDER BY id');
    return rows
      .filter((row) => this.#isPresent(row))
      .map((row) => ({ process: identityIn(row), command: String(row.command), since: Number(row.since) }));
  }

  /** One phrase for each process that may hold the state, except for this one: one that is stopped has no lease any more. */
  describeOthers(): string[] {
    const rows = this.#connection.all('SELECT * FROM presence ORDER BY id').filter((row) => row.id !== this.#id);
    return rows.flatMap((row) => {
      const identity = identityIn(row);
      const isStopped = this.#processes.isStopped(identity);
      if (!isStopped && !this.#isPresent(row)) return [];
      const stopped = isStopped ? ', which is stopped' : '';
      return [`process ${identity.pid} on ${identity.host} (petstock ${row.command})${stopped}`];
    });
  }

  /** Whether another process that has the state open is stopped, as by Ctrl-Z. */
  get isAnyStopped(): boolean {
    const rows = this.#connection.all('SELECT * FROM presence').filter((row) => row.id !== this.#id);
    return rows.some((row) => this.#processes.isStopped(identityIn(row)));
  }

  /** Best effort: without it the lease runs out. */
  end(): void {
    this.#isClosed = true;
    this.#deadline?.clear();
    const id = this.#id;
    if (id === undefined) return;
    this.#id = undefined;
    try {
      this.#connection.quick(() => this.#connection.run('DELETE FROM presence WHERE id = ?', id));
    } catch {
      // What the command had to say matters more.
    }
  }

  #renewed(): number {
    const now = this.#clock.monotonic();
    if (this.#id === undefined) {
      this.#clearDead(now);
      this.#id = this.#connection.insert(
        'INSERT INTO presence (identity, command, since, boot, expires) VALUES (?, ?, ?, ?, ?)',
        ...this.#about(),
        now + lease,
      );
      this.#expires = now + lease;
    } else if (now > this.#expires - lease + renewal) this.#renew(this.#id, now);
    return this.#id;
  }

  #renew(id: number, now: number): void {
    this.#connection.run(
      `INSERT INTO presence (id, identity, command, since, boot, expires) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`,
      id,
      ...this.#about(),
      now + lease,
    );
    this.#expires = now + lease;
  }

  #about(): [string, string, number, string] {
    const { self } = this.#processes;
    return [JSON.stringify(self), this.#command, Math.round(this.#clock.now()), this.#clock.boot()];
  }

  #clearDead(now: number): void {
    for (const row of this.#connection.all('SELECT * FROM presence')) {
      const isOver = !isSameBoot(String(row.boot), this.#clock.boot()) || Number(row.expires) + keptFor < now;
      if (!isOver && !this.#processes.isGone(identityIn(row))) continue;
      this.#connection.run('DELETE FROM presence WHERE id = ?', row.id as number);
    }
    this.#connection.run('DELETE FROM line WHERE holder NOT IN (SELECT id FROM presence)');
  }

  #isPresent(row: Row): boolean {
    if (!isSameBoot(String(row.boot), this.#clock.boot())) return false;
    return Number(row.expires) > this.#clock.monotonic() && !this.#processes.isGone(identityIn(row));
  }

  /** The next renewal by the clock, unless a transaction renews before. */
  #schedule(): void {
    if (this.#isClosed || this.#id === undefined || this.#deadline !== undefined) return;
    this.#deadline = this.#clock.deadline(renewal, () => {
      this.#deadline?.clear();
      this.#deadline = undefined;
      this.#renewInTime();
      // Not at once: a clock that lets all deadlines run out must come to an end of them.
      void Promise.resolve().then(() => this.#schedule());
    });
  }

  /** Never after the end of the lease: what is held may be another's by then. */
  #renewInTime(): void {
    const id = this.#id;
    if (id === undefined || this.#isClosed || !this.#hasLease) return;
    const before = this.#expires;
    try {
      this.#connection.waitingAtMost(patience, () =>
        this.#connection.quick(() => {
          if (this.#hasLease) this.#renew(id, this.#clock.monotonic());
        }),
      );
    } catch {
      // The next transaction or the next round renews it, or it runs out.
      this.#expires = before;
    }
  }
}

function identityIn(row: Row): ProcessIdentity {
  return JSON.parse(String(row.identity)) as ProcessIdentity;
}
