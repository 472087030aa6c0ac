import { randomBytes } from 'node:crypto';
import { memoizePerTick } from '../rate-limit/governor.ts';
import { isSameBoot } from '../rate-limit/key-state.ts';
import type { Clock, Deadline } from '../shared/clock.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import type { Processes, ProcessIdentity } from '../shared/processes.ts';
import type { BegunContents } from './begun-contents.ts';
import { type Holder, isAlive, processLease } from './decide.ts';
import type { HighestNumber } from './highest-number.ts';
import type { KnownRow } from './history.ts';
import { type Living, type LivingProcess, leaseEnds } from './leases.ts';
import {
  type Durability,
  otherFolderHint,
  readWithoutLock,
  type StateDatabase,
  type TransactionBody,
  type TransactionContext,
  type TransactionSteps,
  writeOnly,
} from './state-database.ts';
import { among, json, name, number, type Row, type Statement, statement, text } from './statements.ts';

/** The dead are kept for so long after the end of their lease, in milliseconds: a process that was stopped may come back. */
const keptFor = 60_000;
/** Whether the files of the state are still there is asked again after so many milliseconds: it takes as long as the rest of a small request. */
const maxAgeOfPlace = 10;
/** Sightings that nobody has asked for are kept for 30 days, in milliseconds. */
const sightingsFor = 30 * 86_400_000;

export interface PresentProcess {
  readonly process: ProcessIdentity;
  /** Its command: `inventory apply`. */
  readonly command: string;
  /** Who runs it, where the state keeps that: one that several people share. */
  readonly user?: string | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}

/** The parts that an open state shares. */
/** The part of a state that takes what is known of a run. */
export interface ReopenedState {
  readonly history: {
    recover(
      run: { readonly token: string; readonly serviceName: string },
      known: ReadonlyMap<number, KnownRow>,
      isWhole: boolean,
    ): Promise<boolean>;
  };
  close(): Promise<void>;
}

export interface StateContext {
  readonly database: StateDatabase;
  readonly presence: Presence;
  /** The state folder of this machine, for files beside the state. */
  readonly folder: string | undefined;
  readonly highest: HighestNumber;
  readonly begun: BegunContents;
  /** Opens the state that is there now, if another one has been put in the place of this one. */
  reopen(): Promise<ReopenedState | undefined>;
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
  /** Ends a wait. */
  readonly interrupted: AbortSignal | undefined;
  /** Shows a sentence about what is waited for. */
  warn(line: string): void;
}

export interface PresenceOptions {
  readonly clock: Clock;
  readonly processes: Processes;
  readonly command: string;
  readonly user?: string | undefined;
  /** Why nothing may be written by this state: a sentence. The limits are no part of it. */
  readonly refusal?: string | undefined;
  /** Ends a wait. */
  readonly interrupted?: AbortSignal | undefined;
  /** A number in [0, 1). */
  random(): number;
}

/**
 * Who is alive. A process that writes has a lease, renewed every 5 s and over 15 s after the last renewal; sooner only where
 * it is certain that the process is gone.
 */
export class Presence {
  readonly id: string;
  readonly #database: StateDatabase;
  readonly #options: PresenceOptions;
  /** By the monotonic clock, as early as it may be; undefined while this process is not present. */
  #expires: number | undefined;
  #deadline: Deadline | undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;
  /** For each log and place of this process the requests that may leave, or are on their way. */
  readonly #outstanding = new Set<ReadonlySet<unknown>>();
  readonly #isInPlace: () => boolean;

  constructor(database: StateDatabase, options: PresenceOptions) {
    this.#database = database;
    this.#options = options;
    this.#isInPlace = memoizePerTick(options.clock, () => database.isInPlace, { maxAge: maxAgeOfPlace });
    // Not by the context: numbers of a test may come again. 48 bits fit every column.
    this.id = String(randomBytes(6).readUIntBE(0, 6));
  }

  get host(): string {
    return this.#options.processes.self.host;
  }

  /**
   * Whether this process may still rely on what it holds: false once its lease is over, as after a SIGSTOP, until the next
   * `intend` or `enter` has renewed it, and for good once the state itself was removed or replaced. For the last look before a request leaves: it never waits.
   */
  get holdsLease(): boolean {
    return this.#hasLease && this.#isInPlace();
  }

  get #hasLease(): boolean {
    return this.#options.clock.monotonic() < (this.#expires ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Whether nothing new may be held: the lease of this process was over, so what it holds may be another's by now, and some of
   * that has not had its outcome yet. Renewing the lease would let those requests leave.
   */
  get hasLapsed(): boolean {
    return !this.#hasLease && [...this.#outstanding].some(({ size }) => size > 0);
  }

  /** A log or a place needs this process to be present until `release`. @param outstanding its requests that may leave, or are on their way */
  retain(outstanding: ReadonlySet<unknown>): void {
    this.#outstanding.add(outstanding);
  }

  release(outstanding: ReadonlySet<unknown>): void {
    this.#outstanding.delete(outstanding);
  }

  /**
   * Ends the presence of this process with the last log or place. Whatever is held from here on begins it anew: works come one after the other.
   * @param last is about to be released
   * @returns what is to be written
   */
  leaving({ now, wall, boot }: TransactionContext, last?: ReadonlySet<unknown>): Statement[] {
    if ([...this.#outstanding].some((other) => other !== last)) return [];
    this.#expires = undefined;
    this.#deadline?.clear();
    this.#deadline = undefined;
    // Those that are long dead are removed, which nothing else does.
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

  /** Runs a work in a transaction in which this process is present: whatever is the beginning of a write. */
  async hold<Result>(kind: Durability, service: string | undefined, work: TransactionBody<Result>): Promise<Result> {
    const { refusal, clock, interrupted } = this.#options;
    if (refusal !== undefined) {
      throw new FailureError(`${refusal}; without a history nothing is written, so nothing was sent`, {
        hint: otherFolderHint,
      });
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
      // Ctrl-C has ended the wait for a state that is away.
      if (error instanceof UnavailableError) interrupted?.throwIfAborted();
      throw error;
    } finally {
      this.#schedule();
    }
  }

  /** Returns which of the processes in the column `holder` of some rows are alive, this one included. */
  *aliveAmong(at: TransactionContext, held: readonly Row[]): TransactionSteps<Living> {
    const others = new Set(held.flatMap(({ holder }) => text(holder) ?? []));
    others.delete(this.id);
    const [rows = []] = yield [among(`${selectPresence} WHERE id IN ?*`, [], [...others])];
    const living = new Map<string, LivingProcess>([[this.id, { name: 'this process', endsElsewhere: undefined }]]);
    for (const { row, identity, ends } of yield* this.#livingIn(at, rows)) {
      const endsElsewhere = this.#isElsewhere(identity, at) ? ends : undefined;
      living.set(String(row.id), { name: `process ${identity.pid} on ${name(identity.host)}`, endsElsewhere });
    }
    return living;
  }

  *#livingIn(
    at: TransactionContext,
    rows: readonly Row[],
  ): TransactionSteps<readonly (Holder & { readonly row: Row })[]> {
    const endOf = yield* leaseEnds(at, rows);
    const holders = rows.map((row) => ({ row, identity: identityIn(row), ends: endOf(row) ?? 0 }));
    return holders.filter((holder) => isAlive(holder, at.now, (process) => this.#options.processes.isGone(process)));
  }

  /** Whether a process may be of this machine, before it was started anew, or in a container of it: only its lease says whether it has ended. */
  #isElsewhere({ host, namespace, boot }: ProcessIdentity, at: TransactionContext): boolean {
    const { self } = this.#options.processes;
    const isHere = isSameBoot(at.boot, self.boot);
    if (!isSameBoot(boot, self.boot)) return isHere || host === self.host;
    return isHere && (host !== self.host || namespace !== self.namespace);
  }

  /** Those whose lease is not over, this process included. */
  async list(): Promise<readonly PresentProcess[]> {
    const present = await readWithoutLock(this.#database, (at) => this.#listing(at));
    return present.map(({ row, identity }) => ({
      process: { ...identity, host: name(identity.host) },
      command: name(row.command),
      since: Math.round(number(row.since) ?? 0),
      ...(row.os_user !== null && { user: name(row.os_user) }),
    }));
  }

  /** Best effort: without it the lease runs out. */
  async end(): Promise<void> {
    this.#isClosed = true;
    this.#deadline?.clear();
    await this.#renewing;
    if (this.#expires === undefined) return;
    this.#outstanding.clear();
    // Ignored: this must not replace the command's own result.
    await writeOnly(this.#database, undefined, (at) => this.leaving(at)).catch(() => {});
  }

  *#listing(at: TransactionContext): TransactionSteps<readonly (Holder & { readonly row: Row })[]> {
    const [rows = []] = yield [statement(`${selectPresence} ORDER BY since, id`)];
    return yield* this.#livingIn(at, rows);
  }

  #renewal({ now, wall, boot }: TransactionContext): Statement {
    const { processes, command, user } = this.#options;
    return statement(
      `INSERT INTO petstock.presence (id, identity, os_user, command, since, boot, expires, lasts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`,
      ...[this.id, JSON.stringify(processes.self), user ?? null, command, Math.round(wall)],
      ...[boot, now + processLease.lasts, processLease.lasts],
    );
  }

  /** The next renewal by the clock, unless a transaction renews before. */
  #schedule(): void {
    if (this.#isClosed || this.#expires === undefined || this.#deadline !== undefined) return;
    this.#deadline = this.#options.clock.deadline(processLease.renewedAfter, () => {
      this.#deadline?.clear();
      this.#renewing = this.#renewInTime().finally(() => {
        this.#deadline = undefined;
        this.#schedule();
      });
    });
    // A program that has nothing else to do may end: its lease runs out.
    this.#deadline.unref?.();
  }

  /** Never after the end of the lease: what is held may be another's by then. */
  async #renewInTime(): Promise<void> {
    if (this.#isClosed || !this.#hasLease) return;
    const askedAt = this.#options.clock.monotonic();
    try {
      const isRenewed = await this.#database.transact('bestEffort', undefined, (at) => this.#renewingWork(at));
      if (isRenewed && this.#expires !== undefined) this.#expires = askedAt + processLease.lasts;
    } catch {
      // The next transaction or the next round renews it, or it runs out.
    }
  }

  *#renewingWork(at: TransactionContext): TransactionSteps<boolean> {
    const [rows = []] = yield [statement('SELECT expires FROM petstock.presence WHERE id = ?', this.id)];
    const isRenewed = this.#hasLease && (number(rows[0]?.expires) ?? 0) > at.now;
    if (isRenewed) at.writes.push(this.#renewal(at));
    return isRenewed;
  }
}

const selectPresence = 'SELECT id, identity, os_user, command, since, boot, expires, lasts FROM petstock.presence';

/** Returns who a process says that it is; nothing of it is empty or another type, whoever wrote the row. */
function identityIn(row: Row): ProcessIdentity {
  const { host = '', namespace = '', boot = '', pid = 0, startedAt = '' } = Object(json(row.identity));
  return { host: `${host}`, namespace: `${namespace}`, boot: `${boot}`, pid: Number(pid), startedAt: `${startedAt}` };
}
