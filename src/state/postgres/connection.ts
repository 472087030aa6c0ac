import type { Clock } from '../../shared/clock.ts';
import type { DatabaseAddress } from '../../shared/database-url.ts';
import { FailureError } from '../../shared/errors.ts';
import { number, piecesOf, type ResultSets, type Statement, statement } from '../statements.ts';
import { type QueryOptions, settings, timeouts } from './client-config.ts';
import { DatabaseClock } from './database-clock.ts';
import { isFull, isLost, isSilence, toPetstockError } from './postgres-errors.ts';
import { Servers } from './servers.ts';
import type { OpenWire, Wire } from './wire.ts';

/** A server that is restarted, or has all of its connections, takes none for a moment: milliseconds between two attempts. */
const pause = 250;
/** How long is tried, unless more patience is asked for: milliseconds. */
const shortPatience = 5000;
/** After this a server that could not be reached is not tried again for so long: what ends then ends soon. */
const giveUpFor = 10_000;
/** For all of the tables, or a migration: milliseconds. */
const maxAnswer = 3_600_000;

export interface ConnectionOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly openWire: OpenWire;
  /** Ends what is more than the usual patience. */
  readonly interrupted?: AbortSignal | undefined;
  /** Called with each new wire, before anything else is asked of it. @returns the life of the database, if it has begun one */
  prepare(ask: Ask): Promise<string | undefined>;
}

/** Asks statements in one round trip by one wire, with the settings that each of them begins with. */
export type Ask = (statements: readonly Statement[], options?: QueryOptions) => Promise<ResultSets>;

const begin = statement('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
export const commit = statement('COMMIT');
const rollback = statement('ROLLBACK');

/** Milliseconds since the Unix epoch, by the clock of the database. */
export const selectNow = statement('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now');

/** The one connection of a process to the database: one statement or transaction at a time, in their order. */
export class PostgresConnection {
  /** Without the password. */
  readonly shown: string;
  readonly time: DatabaseClock;
  /** Called when a process has sent a NOTIFY. It may mean anything, or nothing. */
  onNotice: () => void = () => {};
  /** Called once while the database is waited for longer than usual. */
  onWait: () => void = () => {};
  readonly #options: ConnectionOptions;
  readonly #servers: Servers;
  #wire: Wire | undefined;
  /** The process of the server that has answered. */
  #pid: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Until then, by the monotonic clock, it is not tried again with the patience that was in vain, or less. */
  #givenUp: { readonly until: number; readonly patience: number; readonly error: unknown } | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #life: string | undefined;
  #generation = 0;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#servers = new Servers(options.address, options.clock, options.openWire);
    this.shown = options.address.shown;
    this.time = new DatabaseClock(options.clock);
  }

  /** @throws UnavailableError if it can't be reached, FailureError if it can't be used */
  static async open(options: ConnectionOptions): Promise<PostgresConnection> {
    const connection = new PostgresConnection(options);
    await connection.again(async () => {});
    return connection;
  }

  /** When the database was last heard of, by the monotonic clock: what it said then was true at that moment or later. */
  get heardAt(): number {
    return this.#wire === undefined || this.#wire.isOver ? Number.NEGATIVE_INFINITY : this.#heardAt;
  }

  /** Names the time in which the database has lost nothing: it ends with a crash, and when a standby takes over. */
  get life(): string | undefined {
    return this.#life;
  }

  /** Counts the wires: what another process has said between two of them was not heard. */
  get generation(): number {
    return this.#generation;
  }

  /** Reads, in one round trip; again, once, if the connection was lost before the answer came. */
  async query(statements: readonly Statement[], options: QueryOptions = {}): Promise<ResultSets> {
    return this.again((ask) => ask(statements, options));
  }

  /**
   * Uses one wire for several round trips, with no other between them, and again, once, if the connection was lost.
   * @param patience how long a server that can't be reached is waited for, in milliseconds
   * @throws UnavailableError if it is not known what became of it
   */
  async again<Result>(work: (ask: Ask) => Promise<Result>, patience = shortPatience): Promise<Result> {
    const attempt = () => this.#use(work, patience);
    const attemptAgain = (error: unknown) => {
      const isHopeless = isSilence(error) && !this.#servers.areSeveral && patience <= shortPatience;
      if (!isLost(error) || isHopeless || this.#isClosed) throw error;
      return attempt();
    };
    return this.#inTurn(() => attempt().catch(attemptAgain)).catch((error) => {
      throw toPetstockError(error, this.shown);
    });
  }

  /** Reads the clock of the database, if what is known of it can't be relied on. */
  async align(): Promise<void> {
    if (this.time.isDoubtful) await this.query([]);
  }

  /** Finishes first what was begun. May be called again. */
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

  /** A transaction that fails leaves nothing open for what comes next. */
  async #use<Result>(work: (ask: Ask) => Promise<Result>, patience: number): Promise<Result> {
    const wire = await this.#reached(patience);
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
      const { noStatementTimeout = false, goesOn = false, begins = false } = options;
      const opening = goesOn ? [] : [...(begins ? [begin] : []), settings(options), selectNow];
      const pieces = statements.map(piecesOf);
      const asked = [...opening, ...pieces.flat()];
      // No round trip for nothing.
      if (asked.length === 0) return pieces.map(() => []);
      const { clock } = this.#options;
      const sentAt = clock.monotonic();
      try {
        const answers = await wire.query(asked, noStatementTimeout ? maxAnswer : timeouts.answer);
        this.#heardAt = sentAt;
        if (!goesOn) {
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
    else this.#giveUp(error, shortPatience);
  }

  /** Others are heard by NOTIFY only as long as one process of the server is ours. */
  #requireSameProcess(pid: number | undefined): void {
    if (this.#pid !== undefined && pid !== this.#pid) {
      throw new FailureError(
        `The shared state at ${this.shown} is behind a pooler in transaction mode, which does not pass on what commands tell each other: nothing more is sent`,
        { hint: 'petstock config set state-url' },
      );
    }
    this.#pid = pid;
  }

  /** The wire, made again if it is lost. */
  async #reached(patience: number): Promise<Wire> {
    // Made again it would keep the process from ending.
    if (this.#isClosed) throw new FailureError(`The shared state at ${this.shown} has been closed`);
    if (this.#wire !== undefined && !this.#wire.isOver) return this.#wire;
    const { clock, interrupted } = this.#options;
    const began = clock.monotonic();
    const inVain = this.#patienceInVain(patience);
    // Once Ctrl-C has ended a wait there is no other, but one more try: what was answered meanwhile is written if the database is back.
    const rest = inVain > 0 ? 0 : Math.min(patience, shortPatience);
    const most = () => (interrupted?.aborted ? rest : patience);
    const noStatementTimeout = patience > shortPatience;
    for (let isTold = false; ; ) {
      try {
        return await this.#connect();
      } catch (error) {
        const waited = clock.monotonic() - began;
        // One that was never reached is away for longer.
        const maySoonBeBack = this.#wire !== undefined && isLost(error) && (noStatementTimeout || !isSilence(error));
        if (!(maySoonBeBack || isFull(error)) || waited >= most()) {
          this.#giveUp(error, Math.max(most(), inVain));
          throw error;
        }
        if (!isTold && waited >= shortPatience) this.onWait();
        isTold ||= waited >= shortPatience;
        await clock.sleep(pause);
      }
    }
  }

  /** @returns the patience that was in vain just now. @throws the error of that, if this one is no longer */
  #patienceInVain(patience: number): number {
    const { until = 0, patience: inVain = 0, error } = this.#givenUp ?? {};
    if (this.#options.clock.monotonic() >= until) return 0;
    if (patience <= inVain) throw error;
    return inVain;
  }

  #giveUp(error: unknown, patience: number): void {
    this.#givenUp = { until: this.#options.clock.monotonic() + giveUpFor, patience, error };
  }

  async #connect(): Promise<Wire> {
    const wire = await this.#servers.connect(() => this.onNotice());
    this.#pid = undefined;
    this.#generation += 1;
    try {
      this.#life = await this.#options.prepare(this.#askBy(wire));
    } catch (error) {
      wire.destroy();
      throw error;
    }
    this.#wire = wire;
    return wire;
  }
}
