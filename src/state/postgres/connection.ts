import type { Clock } from '../../shared/clock.ts';
import type { DatabaseAddress } from '../../shared/database-url.ts';
import { FailureError } from '../../shared/errors.ts';
import { number, piecesOf, type ResultSets, type Statement, statement } from '../statements.ts';
import { type QueryOptions, settings, timeouts } from './client-config.ts';
import { DatabaseClock } from './database-clock.ts';
import { isFull, isLost, isSilence, toPetstockError } from './postgres-errors.ts';
import { Servers } from './servers.ts';
import type { OpenWire, Wire } from './wire.ts';

/**
 * Pause between two connection attempts, in milliseconds, because a restarting or full server accepts no connection for
 * a moment.
 */
const pause = 250;
/** How long to keep trying to reconnect by default, in milliseconds. */
const defaultMaxWait = 5000;
/** How long a server is not tried again after it could not be reached, in milliseconds, so that commands end soon. */
const giveUpFor = 10_000;
/** Time limit in milliseconds for a round trip with `noStatementTimeout`, such as a migration. */
const maxAnswer = 3_600_000;

export interface ConnectionOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly openWire: OpenWire;
  /** Once this signal is aborted, no wait for the server lasts longer than the default of 5 s. */
  readonly interrupted?: AbortSignal | undefined;
  /**
   * Called with each new wire, before anything else is sent over it.
   * @returns the id of the database's epoch, if it has one
   */
  prepare(ask: Ask): Promise<string | undefined>;
}

/**
 * Runs statements in one round trip, in a transaction of their own unless the options begin or continue a longer one.
 */
export type Ask = (statements: readonly Statement[], options?: QueryOptions) => Promise<ResultSets>;

/** Overrides the defaults of the role: reads under a lock must see what was committed before it. */
const begin = statement('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
export const commit = statement('COMMIT');
const rollback = statement('ROLLBACK');

/** Selects the time of the database, in milliseconds since the Unix epoch. */
export const selectNow = statement('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now');

/** The single connection of a process to the database. Statements and transactions run one at a time, in order. */
export class PostgresConnection {
  /** The address without the password. */
  readonly shown: string;
  readonly time: DatabaseClock;
  /** Called when a process has sent a NOTIFY. Any client can send one, so it carries no information. */
  onNotice: () => void = () => {};
  /** Called once per wait if the database can't be reached for longer than 5 s. */
  onWait: () => void = () => {};
  readonly #options: ConnectionOptions;
  readonly #servers: Servers;
  #wire: Wire | undefined;
  /** The process id of the server process that responds on the current wire. */
  #pid: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /**
   * The last attempt that failed or received no reply. Until `until`, by the monotonic clock, an attempt that may wait
   * no longer than this one fails at once with the same error.
   */
  #givenUp: { readonly until: number; readonly maxWait: number; readonly error: unknown } | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #epoch: string | undefined;
  #generation = 0;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#servers = new Servers(options.address, options.clock, options.openWire);
    this.shown = options.address.shown;
    this.time = new DatabaseClock(options.clock);
  }

  /** @throws UnavailableError if the database can't be reached, FailureError if it can't be used */
  static async open(options: ConnectionOptions): Promise<PostgresConnection> {
    const connection = new PostgresConnection(options);
    await connection.again(async () => {});
    return connection;
  }

  /**
   * When the last answered query was sent, by the monotonic clock: its results were true at that moment or later.
   * `-Infinity` if there is no connection.
   */
  get heardAt(): number {
    return this.#wire === undefined || this.#wire.isOver ? Number.NEGATIVE_INFINITY : this.#heardAt;
  }

  /** Identifies the period in which the database has lost no data. It ends with a crash or a failover. */
  get epoch(): string | undefined {
    return this.#epoch;
  }

  /** Counts the connections made. Notifications sent between two of them were missed. */
  get generation(): number {
    return this.#generation;
  }

  /** Runs statements in one round trip. Sends them again, once, in the same cases as `again`. */
  async query(statements: readonly Statement[], options: QueryOptions = {}): Promise<ResultSets> {
    return this.again((ask) => ask(statements, options));
  }

  /**
   * Runs `work` on one wire for several round trips, with no other round trips in between. Runs it again, once, if the
   * connection was lost; but with the default `maxWait` not after a timeout, unless there is another server.
   * @param maxWait how long to wait for a server that can no longer be reached, in milliseconds
   * @throws UnavailableError if the database can't be reached, is too busy, or the outcome is not known; FailureError
   * if it can't be used
   */
  async again<Result>(work: (ask: Ask) => Promise<Result>, maxWait = defaultMaxWait): Promise<Result> {
    const attempt = () => this.#use(work, maxWait);
    const attemptAgain = (error: unknown) => {
      const isHopeless = isSilence(error) && !this.#servers.areSeveral && maxWait <= defaultMaxWait;
      if (!isLost(error) || isHopeless || this.#isClosed) throw error;
      return attempt();
    };
    return this.#inTurn(() => attempt().catch(attemptAgain)).catch((error) => {
      throw toPetstockError(error, this.shown);
    });
  }

  /** Reads the database's clock if the known offset is unreliable. */
  async align(): Promise<void> {
    if (this.time.isDoubtful) await this.query([]);
  }

  /** Completes pending work, then closes. May be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turn.catch(() => {});
    await this.#wire?.close();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Runs `work` with the current wire. Rolls back a transaction that fails, so that the next one starts clean. */
  async #use<Result>(work: (ask: Ask) => Promise<Result>, maxWait: number): Promise<Result> {
    const wire = await this.#connectedWire(maxWait);
    let isOpen = false;
    const ask = this.#askBy(wire);
    try {
      return await work((statements, options = {}) => {
        isOpen ||= options.begins === true;
        return ask(statements, options);
      });
    } catch (error) {
      if (isOpen && !wire.isOver) await wire.query([rollback], timeouts.answer).catch(() => wire.destroy());
      throw error;
    }
  }

  #askBy(wire: Wire): Ask {
    return async (statements, options = {}) => {
      const { noStatementTimeout = false, continues = false, begins = false } = options;
      const opening = continues ? [] : [begin, settings(options), selectNow];
      const ending = continues || begins ? [] : [commit];
      const pieces = statements.map(piecesOf);
      const asked = [...opening, ...pieces.flat(), ...ending];
      // Avoids an empty round trip.
      if (asked.length === 0) return pieces.map(() => []);
      const { clock } = this.#options;
      const sentAt = clock.monotonic();
      try {
        const answers = await wire.query(asked, noStatementTimeout ? maxAnswer : timeouts.answer);
        this.#heardAt = sentAt;
        if (!continues) {
          const [[session] = [], [time] = []] = answers.slice(opening.length - 2);
          this.time.observe(number(time?.now) ?? 0, sentAt, clock.monotonic());
          this.#requireSameProcess(number(session?.pid));
        }
        const rest = answers.slice(opening.length);
        return pieces.map(({ length }) => rest.splice(0, length).flat());
      } catch (error) {
        if (isLost(error)) wire.destroy();
        if (isSilence(error)) this.#noteSilence(error);
        throw error;
      }
    };
  }

  #noteSilence(error: unknown): void {
    if (this.#servers.areSeveral) this.#servers.noteSilence(error);
    else this.#giveUp(error, defaultMaxWait);
  }

  /**
   * Checks that all queries use the same server process, because notifications arrive only then.
   * @throws FailureError if they don't
   */
  #requireSameProcess(pid: number | undefined): void {
    if (this.#pid !== undefined && pid !== this.#pid) {
      throw new FailureError(
        `The shared state at ${this.shown} is behind a pooler in transaction mode, which does not forward notifications between commands. Nothing more is sent`,
        { hint: 'petstock config set state-url' },
      );
    }
    this.#pid = pid;
  }

  /** Returns the wire; connects if there is none or it was lost. */
  async #connectedWire(maxWait: number): Promise<Wire> {
    // Reconnecting would keep the process from ending.
    if (this.#isClosed) throw new FailureError(`The shared state at ${this.shown} has been closed`);
    if (this.#wire !== undefined && !this.#wire.isOver) return this.#wire;
    const { clock, interrupted } = this.#options;
    const began = clock.monotonic();
    const failedMaxWait = this.#failedMaxWait(maxWait);
    // After Ctrl-C the wait is at most 5 s, and 0 if a recent wait has failed. One attempt is still made, so that
    // outcomes are written if the database is back.
    const rest = failedMaxWait > 0 ? 0 : Math.min(maxWait, defaultMaxWait);
    const maxWaitNow = () => (interrupted?.aborted ? rest : maxWait);
    const noStatementTimeout = maxWait > defaultMaxWait;
    for (let isReported = false; ; ) {
      try {
        return await this.#connect();
      } catch (error) {
        const waited = clock.monotonic() - began;
        // A server that was never reached will probably not be back soon.
        const maySoonBeBack = this.#wire !== undefined && isLost(error) && (noStatementTimeout || !isSilence(error));
        if (!(maySoonBeBack || isFull(error)) || waited >= maxWaitNow()) {
          this.#giveUp(error, Math.max(maxWaitNow(), failedMaxWait));
          throw error;
        }
        if (!isReported && waited >= defaultMaxWait) this.onWait();
        isReported ||= waited >= defaultMaxWait;
        await clock.sleep(pause);
      }
    }
  }

  /**
   * @returns how long the last failed attempt was allowed to wait if it was recent, otherwise 0
   * @throws the error of that attempt, if `maxWait` is not longer
   */
  #failedMaxWait(maxWait: number): number {
    const { until = 0, maxWait: failedMaxWait = 0, error } = this.#givenUp ?? {};
    if (this.#options.clock.monotonic() >= until) return 0;
    if (maxWait <= failedMaxWait) throw error;
    return failedMaxWait;
  }

  #giveUp(error: unknown, maxWait: number): void {
    this.#givenUp = { until: this.#options.clock.monotonic() + giveUpFor, maxWait, error };
  }

  async #connect(): Promise<Wire> {
    const wire = await this.#servers.connect(() => this.onNotice());
    this.#pid = undefined;
    this.#generation += 1;
    try {
      this.#epoch = await this.#options.prepare(this.#askBy(wire));
    } catch (error) {
      wire.destroy();
      throw error;
    }
    this.#wire = wire;
    return wire;
  }
}
