import { hash } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import { type DatabaseAddress, parseDatabaseUrl } from '../shared/database-url.ts';
import { FailureError, UnavailableError, UsageError } from '../shared/errors.ts';
import { type Connected, connect, LockTimeout, type Session, schemaWithin } from './postgres-session.ts';
import { beat, bulkPause, locks, Place } from './postgres-turn.ts';
import { OtherVersionError, otherVersion, schemaOf030, schemaVersion, tables } from './schema.ts';
import {
  type Decide,
  type Lock,
  LostConnectionError,
  type Moment,
  type Store,
  type StoreDescription,
  type Transact,
  type Turn,
  type TurnWait,
} from './state-store.ts';
import { type Answers, recordedRun, type Statement, statement } from './statements.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly clock: Clock;
}

/** How long to try to reach a server again that was lost, and the pause between, in milliseconds. */
const outage = { until: 10_000, pause: 200 };
/** After so many lost transactions of turns in a row no more are begun: the database accepts connections, but no writes. */
const maxLostTurns = 2;
/** How long an answer counts as fresh, in milliseconds: what a round trip costs, and a 429 elsewhere. */
const freshFor = 250;

const selectNow = statement('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now');

/**
 * Opens the state that several machines share, in the schema `petstock` of a database; creates its tables if there are
 * none.
 * @throws UnavailableError if the database can't be reached; FailureError if it can't be used, or its state is of
 * another version; UsageError for an invalid URL
 */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const store = await openExistingPostgres(options);
  if (store !== undefined) return store;
  await initPostgres(options);
  return (await openExistingPostgres(options)) as Store;
}

/** Like `openPostgres`, but creates nothing: undefined if there are no tables. */
export async function openExistingPostgres({ url, clock }: PostgresOptions): Promise<Store | undefined> {
  const address = addressOf(url);
  const { session, schema } = await reached(address, connect(address));
  if (schema === schemaVersion) return new PostgresStore(address, clock, session);
  await session.end(clock);
  if (schema === undefined) return undefined;
  throw versionError(address, schema);
}

/**
 * Makes the tables of a shared state, or migrates those of 0.3.0. Whoever calls this owns them.
 * @returns what was there before
 * @throws the errors of `openPostgres`
 */
export async function initPostgres({ url, clock }: PostgresOptions): Promise<'nothing' | 'state' | 'state of 0.3.0'> {
  const address = addressOf(url);
  const { session } = await reached(address, connect(address));
  const run = async (sql: string, values: Statement['values'] = []) =>
    (await session.ask([{ sql, values }], true))[0] ?? [];
  try {
    await session.ask(
      [
        statement('BEGIN'),
        statement("SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '60000', true)"),
        statement(`SELECT pg_advisory_xact_lock(${locks.transaction}, 0)`),
      ],
      true,
    );
    // Another process may have made them while this one waited for the lock.
    const schema = await schemaWithin(session);
    if (schema === schemaVersion) return 'state';
    if (schema !== undefined && schema !== schemaOf030) throw versionError(address, schema);
    if (schema === undefined) {
      await run('CREATE SCHEMA IF NOT EXISTS petstock');
      await run('CREATE TABLE petstock.meta (schema integer NOT NULL)');
      await run('INSERT INTO petstock.meta VALUES (?)', [schemaVersion]);
      for (const sql of tables.split(';')) if (sql.trim() !== '') await run(sql);
    } else {
      const { migrateSchema } = await import('./state-of-030.ts');
      await migrateSchema(run, clock.now());
      await run('UPDATE petstock.meta SET schema = ?', [schemaVersion]);
    }
    await run('COMMIT');
    return schema === undefined ? 'nothing' : 'state of 0.3.0';
  } catch (error) {
    throw error instanceof LostConnectionError ? unreachable(address, error) : error;
  } finally {
    // What is not committed is rolled back.
    await session.end(clock);
  }
}

function addressOf(url: string): DatabaseAddress {
  const parsed = parseDatabaseUrl(url);
  if (!parsed.ok) throw new UsageError(`The state URL can't be used: ${parsed.problem}`);
  return parsed.value;
}

function versionError({ shown }: DatabaseAddress, found: number): FailureError {
  const state = `The shared state at ${shown}`;
  if (found !== schemaOf030) return otherVersion(state, found);
  return new OtherVersionError(`${state} is that of petstock 0.3.0. Its owner migrates it when no machine uses 0.3.0`, {
    hint: 'petstock state init',
  });
}

function unreachable({ shown }: DatabaseAddress, { message, cause }: Error): UnavailableError {
  return new UnavailableError(`The shared state at ${shown} can't be reached: ${message}`, {
    hint: 'petstock config list',
    cause,
  });
}

async function reached(address: DatabaseAddress, connecting: Promise<Connected>): Promise<Connected> {
  return connecting.catch((error) => {
    throw error instanceof LostConnectionError ? unreachable(address, error) : error;
  });
}

/**
 * A state in PostgreSQL, over one connection at a time: all locks belong to its session, and a turn writes over no
 * other. What is asked is answered in order.
 */
class PostgresStore implements Store {
  readonly isFreshFor = freshFor;
  readonly #address: DatabaseAddress;
  readonly #clock: Clock;
  #session: Session;
  #line: Promise<unknown> = Promise.resolve();
  /** The last attempt to reach the server again has failed: the next one is not repeated. */
  #isAway = false;
  /** How many transactions of turns were lost since the last durable one: others succeed also without a standby. */
  #lostTurns = 0;
  /** The runs that this process has locked, because the database would give it such a lock again. */
  readonly #lockedRuns = new Map<string, Session>();

  constructor(address: DatabaseAddress, clock: Clock, session: Session) {
    this.#address = address;
    this.#clock = clock;
    this.#session = session;
  }

  readonly transact: Transact = (questions, decide, isDurable) =>
    this.#again((session) => this.#transact(session, questions, decide, isDurable));

  ask(questions: readonly Statement[]): Promise<{ readonly answers: Answers; readonly moment: Moment }> {
    return this.#again(async (session) => {
      const at = this.#clock.monotonic();
      const [time, ...answers] = await session.ask([selectNow, ...questions]);
      return { moment: { now: Number(time?.[0]?.now), at }, answers };
    });
  }

  async takeTurn(service: string, { isBulk, signal, onWait }: TurnWait): Promise<Turn> {
    const place = new Place(numberOf(service), isBulk);
    const began = this.#clock.monotonic();
    let told = 1000;
    try {
      while (!place.hasTurn) {
        signal.throwIfAborted();
        await this.#again((session) => place.advance(session));
        if (place.isPolling) await this.#clock.sleep(bulkPause, signal);
        const waited = this.#clock.monotonic() - began;
        if (waited < told || place.hasTurn) continue;
        told = waited + 1000;
        await onWait(waited);
      }
      return this.#turn(place, place.session as Session);
    } catch (error) {
      this.#later(() => place.leave());
      throw error;
    }
  }

  async lockRun(run: string, isNew = false): Promise<Lock | undefined> {
    const number = numberOf(run);
    const lock = statement(`SELECT pg_try_advisory_lock(${locks.run}, ${number})::text AS taken`);
    const unlock = statement(`SELECT pg_advisory_unlock(${locks.run}, ${number})`);
    const session = await this.#again(async (session) => {
      if (this.#lockedRuns.get(run)?.isOver === false) return undefined;
      const [[found] = [], recorded = []] = await session.ask([lock, recordedRun(run)]);
      if (found?.taken !== 'true') return undefined;
      if (!isNew || recorded.length === 0) return session;
      await session.ask([unlock]);
      return undefined;
    });
    if (session === undefined) return undefined;
    this.#lockedRuns.set(run, session);
    return {
      get isLost() {
        return session.isOver;
      },
      release: async () => {
        if (this.#lockedRuns.get(run) !== session) return;
        this.#lockedRuns.delete(run);
        this.#later(async () => session.isOver || session.ask([unlock]));
      },
    };
  }

  async lockedAmong(among: readonly string[]): Promise<ReadonlySet<string>> {
    const select = statement(
      `SELECT objid::bigint AS number FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ${locks.run} AND objsubid = 2
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    const [found = []] = (await this.ask([select])).answers;
    const locked = new Set(found.map(({ number }) => Number(number)));
    // The database shows the number without a sign.
    return new Set(among.filter((run) => locked.has(numberOf(run) >>> 0)));
  }

  forgetRun(): void {}

  async describe(): Promise<StoreDescription> {
    const [found] = await this.#again((session) => session.ask([selectSize], true));
    const [row] = found ?? [];
    return {
      engine: `postgresql ${String(row?.version).split(' ')[0]}`,
      location: this.#address.shown,
      ...{ schema: schemaVersion, bytes: Number(row?.bytes) },
    };
  }

  async check(): Promise<readonly string[]> {
    return [];
  }

  /** Lets the database use the space of removed rows again. Only the owner of the tables may ask for that. */
  async reclaim(): Promise<void> {
    await this.#again((session) => session.ask([statement('VACUUM runs, rows')], true)).catch((error) => {
      if (!(error instanceof FailureError)) throw error;
    });
  }

  async close(): Promise<void> {
    await this.#line;
    await this.#session.end(this.#clock);
  }

  /** Runs `work` after what was asked before, and again over a new connection if it was lost. */
  #again<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#inLine(async () => {
      const until = this.#clock.monotonic() + (this.#isAway ? 0 : outage.until);
      for (;;) {
        try {
          const result = await work(await this.#connected());
          this.#isAway = false;
          return result;
        } catch (error) {
          if (!(error instanceof LostConnectionError)) throw error;
          this.#isAway = this.#clock.monotonic() >= until;
          if (this.#isAway) throw unreachable(this.#address, error);
          await this.#clock.sleep(outage.pause);
        }
      }
    });
  }

  #inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#line.then(work);
    this.#line = turn.catch(() => {});
    return turn;
  }

  /** Asks without waiting, not even for the answer before the next question: the database answers in order. */
  #later(ask: () => Promise<unknown>): void {
    void this.#inLine(async () => void ask().catch(() => {}));
  }

  async #connected(): Promise<Session> {
    if (this.#session.isOver) this.#session = await this.#connect();
    return this.#session;
  }

  async #connect(): Promise<Session> {
    const { session, schema } = await connect(this.#address);
    if (schema === schemaVersion) {
      await session.endOther(this.#session);
      return session;
    }
    await session.end(this.#clock);
    throw versionError(this.#address, schema ?? 0);
  }

  async #transact<Result>(
    session: Session,
    questions: readonly Statement[],
    decide: Decide<Result>,
    isDurable = false,
  ): Promise<Result> {
    const at = this.#clock.monotonic();
    const [, , , time, ...answers] = await session
      .ask([
        statement('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'),
        isDurable ? durably : quickly,
        statement(`SELECT pg_advisory_xact_lock(${locks.transaction}, 0)`),
        selectNow,
        ...questions,
      ])
      .catch((error) => this.#rollBack(session, error));
    try {
      const { writes, result } = decide(answers, { now: Number(time?.[0]?.now), at });
      await session.ask([...writes, statement('COMMIT')]);
      return result;
    } catch (error) {
      return this.#rollBack(session, error);
    }
  }

  async #rollBack(session: Session, error: unknown): Promise<never> {
    if (!session.isOver) await session.ask([statement('ROLLBACK')]);
    if (!(error instanceof LockTimeout)) throw error;
    throw new UnavailableError(`The shared state at ${this.#address.shown} has been locked for too long`, {
      hint: 'petstock state info',
      cause: error,
    });
  }

  /** The turn ends with its session. While it is held, the database hears of this process. */
  #turn(place: Place, session: Session): Turn {
    let isReleased = false;
    const beAlive = () => {
      if (isReleased || session.isOver) return;
      this.#later(() => session.ask([statement('SELECT 1')]));
      this.#clock.deadline(beat, beAlive).unref?.();
    };
    this.#clock.deadline(beat, beAlive).unref?.();
    return {
      transact: (questions, decide, isDurable) =>
        this.#inLine(async () => {
          if (session.isOver) throw new LostConnectionError('the turn has ended with its connection');
          try {
            const result = await this.#transact(session, questions, decide, isDurable);
            if (isDurable) this.#lostTurns = 0;
            return result;
          } catch (error) {
            if (!(error instanceof LostConnectionError)) throw error;
            this.#lostTurns += 1;
            throw this.#lostTurns > maxLostTurns ? unreachable(this.#address, error) : error;
          }
        }),
      get isLost() {
        return session.isOver && !isReleased;
      },
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        this.#later(() => place.leave());
      },
    };
  }
}

const quickly = statement(
  "SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '5000', true)",
);
/** Waits for the disk, and for a synchronous standby as the server is set up to. */
const durably = statement(
  `SELECT CASE WHEN current_setting('synchronous_commit') IN ('remote_apply', 'remote_write') THEN ''
     ELSE set_config('synchronous_commit', 'on', true) END, set_config('lock_timeout', '5000', true)`,
);

/** Returns the second number of an advisory lock: 32 bits with a sign. */
function numberOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 8), 16) | 0;
}

const selectSize = statement(`SELECT current_setting('server_version') AS version,
  (SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 FROM pg_class
   JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'petstock' AND relkind = 'r') AS bytes`);
