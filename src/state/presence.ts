import { randomBytes } from 'node:crypto';
import type { Clock, Deadline } from '../shared/clock.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import type { Processes } from '../shared/processes.ts';
import { processLease } from './decide.ts';
import { type PresentProcess, presentProcesses } from './living-processes.ts';
import {
  type Durability,
  otherFolderHint,
  readWithoutLock,
  type StateDatabase,
  type TransactionBody,
  type TransactionContext,
  type TransactionSteps,
  withoutHistory,
  writeOnly,
} from './state-database.ts';
import { number, type Statement, statement } from './statements.ts';

/** How long the row of a process is kept after the end of its lease, in milliseconds: it may only be suspended. */
const keptFor = 60_000;
/** How long this boot keeps its notes on other boots (`sightings`): 30 days, in milliseconds. */
const sightingsFor = 30 * 86_400_000;

export interface PresenceOptions {
  readonly clock: Clock;
  readonly processes: Processes;
  readonly command: string;
  readonly user?: string | undefined;
  /** Why nothing may be written with this state, as a sentence. Rate limits are still stored. */
  readonly refusal?: string | undefined;
  /** Once this signal is aborted, its reason is thrown instead of an UnavailableError. */
  readonly interrupted?: AbortSignal | undefined;
  /** Returns a number in [0, 1). */
  random(): number;
}

/**
 * The processes that are alive. A process that writes has a lease, which is renewed every 5 s and ends 15 s after the
 * last renewal, or earlier if the process is certainly gone.
 */
export class Presence {
  readonly id: string;
  readonly processes: Processes;
  readonly #database: StateDatabase;
  readonly #options: PresenceOptions;
  /**
   * The earliest time, by the monotonic clock, at which the lease may end; undefined while this process is not present.
   */
  #expires: number | undefined;
  #deadline: Deadline | undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;
  /** The requests that may be sent or are in flight, for each log and pet lock of this process. */
  readonly #outstanding = new Set<ReadonlySet<unknown>>();

  constructor(database: StateDatabase, options: PresenceOptions) {
    this.processes = options.processes;
    this.#database = database;
    this.#options = options;
    // The context's random numbers are not used, because they repeat in tests. 48 bits fit every column.
    this.id = String(randomBytes(6).readUIntBE(0, 6));
  }

  /**
   * Whether this process may still rely on its logs and pet locks. False once its lease has ended (as after a SIGSTOP),
   * until the next `intend` or `tryAcquire` renews it; false for good once the state was removed or replaced. The
   * getter is read right before a request is sent, so it never waits.
   */
  get holdsLease(): boolean {
    return this.#hasLease && this.#database.isInPlace;
  }

  get #hasLease(): boolean {
    return this.#options.clock.monotonic() < (this.#expires ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Whether this process may lock no further pet: its lease ended while some of its requests were unsettled, so another
   * process may hold those pets by now. Renewing the lease would allow those requests to be sent.
   */
  get hasLapsed(): boolean {
    return !this.#hasLease && [...this.#outstanding].some(({ size }) => size > 0);
  }

  /**
   * Keeps this process present until `release`, for a log or a pet lock.
   * @param outstanding the requests of that log or lock that may be sent or are in flight
   */
  retain(outstanding: ReadonlySet<unknown>): void {
    this.#outstanding.add(outstanding);
  }

  release(outstanding: ReadonlySet<unknown>): void {
    this.#outstanding.delete(outstanding);
  }

  /**
   * Ends the presence of this process with its last log or pet lock. A later log or pet lock begins a new presence.
   * @param last the set that is about to be released
   * @returns the statements to write; none if another log or pet lock remains
   */
  leaving({ now, wall, boot }: TransactionContext, last?: ReadonlySet<unknown>): Statement[] {
    if ([...this.#outstanding].some((other) => other !== last)) return [];
    this.#expires = undefined;
    this.#deadline?.clear();
    this.#deadline = undefined;
    // This is the only place where processes that are long dead are removed.
    const before = now - keptFor;
    return [
      statement(
        `DELETE FROM petstock.presence WHERE id = ? OR (boot = ? AND expires < ?) OR EXISTS (
           SELECT 1 FROM petstock.sightings WHERE sightings.boot = ? AND of_boot = presence.boot AND sightings.expires = presence.expires AND ends < ?)`,
        ...[this.id, boot, before, boot, before],
      ),
      statement('DELETE FROM petstock.line WHERE NOT EXISTS (SELECT 1 FROM petstock.presence WHERE id = line.holder)'),
      statement('DELETE FROM petstock.sightings WHERE at < ?', Math.round(wall) - sightingsFor),
    ];
  }

  /**
   * Runs a transaction in which this process is present, as required to lock a pet, take a run over or send a row.
   * @throws FailureError if nothing may be written with this state
   */
  async hold<Result>(kind: Durability, service: string | undefined, work: TransactionBody<Result>): Promise<Result> {
    const { refusal, clock, interrupted } = this.#options;
    if (refusal !== undefined) {
      throw new FailureError(`${refusal}. ${withoutHistory}`, { hint: otherFolderHint });
    }
    const askedAt = clock.monotonic();
    let isRenewed = false;
    const present = (at: TransactionContext): TransactionSteps<Result> => {
      const { lasts, renewedAfter } = processLease;
      isRenewed = this.#expires === undefined || askedAt > this.#expires - lasts + renewedAfter;
      if (isRenewed) at.writes.push(this.#renewal(at));
      return work(at);
    };
    try {
      const result = await this.#database.transact(kind, service, present);
      if (isRenewed) this.#expires = askedAt + processLease.lasts;
      return result;
    } catch (error) {
      // Ctrl-C ended the wait for an unavailable state.
      if (error instanceof UnavailableError) interrupted?.throwIfAborted();
      throw error;
    } finally {
      this.#schedule();
    }
  }

  list(): Promise<readonly PresentProcess[]> {
    return readWithoutLock(this.#database, (at) => presentProcesses(at, this.processes));
  }

  /** Ends the presence if possible; otherwise the lease runs out. */
  async end(): Promise<void> {
    this.#isClosed = true;
    this.#deadline?.clear();
    await this.#renewing;
    if (this.#expires === undefined) return;
    this.#outstanding.clear();
    // An error is ignored, because it must not replace the command's own result.
    await writeOnly(this.#database, undefined, (at) => this.leaving(at)).catch(() => {});
  }

  #renewal({ now, wall, boot }: TransactionContext): Statement {
    const { command, user } = this.#options;
    return statement(
      `INSERT INTO petstock.presence (id, identity, os_user, command, since, boot, expires, lasts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`,
      ...[this.id, JSON.stringify(this.processes.self), user ?? null, command, Math.round(wall)],
      ...[boot, now + processLease.lasts, processLease.lasts],
    );
  }

  /** Schedules the next renewal in 5 s, unless one is already scheduled. */
  #schedule(): void {
    if (this.#isClosed || this.#expires === undefined || this.#deadline !== undefined) return;
    this.#deadline = this.#options.clock.deadline(processLease.renewedAfter, () => {
      this.#deadline?.clear();
      this.#renewing = this.#renewInTime().finally(() => {
        this.#deadline = undefined;
        this.#schedule();
      });
    });
    // The timer does not keep the program running; if the program ends, the lease runs out.
    this.#deadline.unref?.();
  }

  /** Renews the lease, but never after it has ended, because another process may hold the pets by then. */
  async #renewInTime(): Promise<void> {
    if (this.#isClosed || !this.#hasLease) return;
    const askedAt = this.#options.clock.monotonic();
    try {
      const isRenewed = await this.#database.transact('bestEffort', undefined, (at) => this.#renewingWork(at));
      if (isRenewed && this.#expires !== undefined) this.#expires = askedAt + processLease.lasts;
    } catch {
      // The next transaction or scheduled renewal tries again; otherwise the lease runs out.
    }
  }

  *#renewingWork(at: TransactionContext): TransactionSteps<boolean> {
    const [rows = []] = yield [statement('SELECT expires FROM petstock.presence WHERE id = ?', this.id)];
    const isRenewed = this.#hasLease && (number(rows[0]?.expires) ?? 0) > at.now;
    if (isRenewed) at.writes.push(this.#renewal(at));
    return isRenewed;
  }
}
