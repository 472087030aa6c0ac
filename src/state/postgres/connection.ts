import type { Clock } from '../../shared/clock.ts';
import type { DatabaseAddress } from '../../shared/database-url.ts';
import { timeouts } from './client-config.ts';
import { DatabaseClock } from './database-clock.ts';
import { inWords, isFull, isLost, isSilence } from './postgres-errors.ts';
import { Servers } from './servers.ts';
import type { OpenWire, Row, Wire } from './wire.ts';

/** A server that is restarted, or has all of its connections, takes none for a moment: how often it is tried again, and after how many milliseconds. */
const reconnect = { attempts: 20, pause: 250 };
/** After this a server that could not be reached is not tried again for so long: what ends then ends soon. */
const giveUpFor = 10_000;
/** Milliseconds for all of the tables. */
const longestReading = 3_600_000;

/** What a function of the schema returns: `now` is the time of the database. */
export type Answer = Readonly<Record<string, unknown>>;

export interface ConnectionOptions {
  readonly address: DatabaseAddress;
  readonly clock: Clock;
  readonly openWire: OpenWire;
  /** Called with each new wire, before anything else is asked of it. `patient` waits longer for an answer. */
  prepare(query: Query, patient: Query): Promise<void>;
}

/** @param values for $1, $2 and so on */
export type Query = (text: string, ...values: readonly unknown[]) => Promise<readonly Row[]>;

/** The one connection of a process to the database: one statement or transaction at a time, in their order. */
export class PostgresConnection {
  /** Without the password. */
  readonly shown: string;
  readonly time: DatabaseClock;
  /** Is given what a process has sent to all. */
  onNotice: (payload: string) => void = () => {};
  readonly #options: ConnectionOptions;
  readonly #servers: Servers;
  #wire: Wire | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** By the monotonic clock: until then it is not tried again. */
  #deadUntil = Number.NEGATIVE_INFINITY;
  #lastFailure: unknown;
  #heardAt = Number.NEGATIVE_INFINITY;
  #generation = 0;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#servers = new Servers(options.address, options.clock, options.openWire);
    this.shown = options.address.shown;
    this.time = new DatabaseClock(options.clock);
  }

  /** @throws UnavailableError where it can't be reached, FailureError where it can't be used */
  static async open(options: ConnectionOptions): Promise<PostgresConnection> {
    const connection = new PostgresConnection(options);
    try {
      await connection.#inTurn(() => connection.#connectUntil((error) => !isFull(error)));
    } catch (error) {
      connection.#wire?.destroy();
      throw inWords(error, connection.shown);
    }
    return connection;
  }

  /** When the database was last heard of, by the monotonic clock: what it said then was true at that moment or later. */
  get heardAt(): number {
    return this.#wire === undefined || this.#wire.isOver ? Number.NEGATIVE_INFINITY : this.#heardAt;
  }

  /** Counts the wires: what another process has said between two of them was not heard. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Calls a function of the schema that may be called again with the same arguments. It is, once, where the connection was lost
   * before its answer came.
   * @throws UnavailableError where it is not known what became of it
   */
  call(name: string, ...values: readonly unknown[]): Promise<Answer> {
    return this.#again(() => this.#call(name, values));
  }

  /** The same for one that may not. @throws the error of the network as it is */
  callOnce(name: string, ...values: readonly unknown[]): Promise<Answer> {
    return this.#inTurn(() => this.#call(name, values));
  }

  /** Reads. */
  read(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#again(() => this.#query(text, values));
  }

  /** Reads what may take long: all of the tables. */
  readAll(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#transact(async (query, patient) => {
      await query('SET LOCAL statement_timeout = 0');
      return patient(text, ...values);
    });
  }

  /** Whole or not at all. @throws the error of the network as it is where it is not known which of both */
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.#transact(work);
  }

  #transact<Result>(work: (query: Query, patient: Query) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      // All of it by one wire: what is asked by another one is in no transaction.
      const wire = await this.#reached();
      const query: Query = (text, ...values) => this.#ask(wire, text, values);
      const patient: Query = (text, ...values) => this.#ask(wire, text, values, longestReading);
      await query('BEGIN');
      try {
        const result = await work(query, patient);
        await query('COMMIT');
        return result;
      } catch (error) {
        if (!isLost(error)) await query('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  }

  /** Reads the clock of the database, where what is known of it can't be relied on. */
  async align(): Promise<void> {
    if (this.time.isDoubtful) await this.readTime();
  }

  async readTime(): Promise<void> {
    await this.#again(() => this.#readTime());
  }

  inWords(error: unknown): unknown {
    return inWords(error, this.shown);
  }

  /** What was begun is finished first. May be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turn.catch(() => {});
    await this.#wire?.close();
  }

  async #again<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#inTurn(async () => {
        try {
          return await work();
        } catch (error) {
          const isHopeless = isSilence(error) && !this.#servers.areSeveral;
          if (!isLost(error) || isHopeless || this.#isClosed) throw error;
          return await work();
        }
      });
    } catch (error) {
      throw inWords(error, this.shown);
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #call(name: string, values: readonly unknown[]): Promise<Answer> {
    const { clock } = this.#options;
    const places = values.map((_value, index) => `$${index + 1}`).join();
    const wire = await this.#reached();
    const sentAt = clock.monotonic();
    const [row] = await this.#ask(wire, `SELECT petstock.${name}(${places}) AS answer`, values);
    const answer = row?.answer as Answer;
    if (typeof answer?.now === 'number') this.time.observe(answer.now, sentAt, clock.monotonic());
    return answer;
  }

  async #readTime(): Promise<void> {
    const { clock } = this.#options;
    const wire = await this.#reached();
    const sentAt = clock.monotonic();
    const [row] = await this.#ask(wire, 'SELECT petstock.now_ms() AS now', []);
    this.time.observe(Number(row?.now), sentAt, clock.monotonic());
  }

  async #query(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#ask(await this.#reached(), text, values);
  }

  async #ask(wire: Wire, text: string, values: readonly unknown[], within = timeouts.answer): Promise<readonly Row[]> {
    const { clock } = this.#options;
    const sentAt = clock.monotonic();
    try {
      const rows = await wire.query(text, values, within);
      this.#heardAt = sentAt;
      return rows;
    } catch (error) {
      if (isLost(error)) wire.destroy();
      if (isSilence(error)) {
        if (this.#servers.areSeveral) this.#servers.noteSilence(error);
        else this.#giveUp(error);
      }
      throw error;
    }
  }

  /** The wire, made again where it is gone. */
  async #reached(): Promise<Wire> {
    if (this.#wire !== undefined && !this.#wire.isOver) return this.#wire;
    if (this.#options.clock.monotonic() < this.#deadUntil) throw this.#lastFailure;
    return this.#connectUntil((error) => !(isLost(error) || isFull(error)) || isSilence(error));
  }

  async #connectUntil(isHopeless: (error: unknown) => boolean): Promise<Wire> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#connect();
      } catch (error) {
        if (isHopeless(error) || attempt === reconnect.attempts) {
          this.#giveUp(error);
          throw error;
        }
        await this.#options.clock.sleep(reconnect.pause);
      }
    }
  }

  #giveUp(error: unknown): void {
    this.#deadUntil = this.#options.clock.monotonic() + giveUpFor;
    this.#lastFailure = error;
  }

  async #connect(): Promise<Wire> {
    const { prepare } = this.#options;
    const wire = await this.#servers.connect((payload) => this.onNotice(payload));
    this.#wire = wire;
    this.#generation += 1;
    const patience = 120_000;
    const patient: Query = (text, ...values) => this.#ask(wire, text, values, patience);
    await prepare((text, ...values) => this.#ask(wire, text, values), patient);
    return wire;
  }
}
