import { hash } from 'node:crypto';
import type { Client } from 'pg';
import type { Clock } from '../shared/clock.ts';
import { UnavailableError } from '../shared/errors.ts';
import { schemaVersion, tables } from './schema.ts';
import type { Answer, Answers, Statement } from './statements.ts';
import { statement } from './statements.ts';
import {
  type Decided,
  type Lock,
  LostConnectionError,
  type Moment,
  type Store,
  type Transact,
  type TurnWait,
} from './store.ts';

/** The first number of an advisory lock: what it locks. */
const locks = { transaction: 7001, turn: 7002, run: 7003 };
/** How long to try to reach the server, in milliseconds. */
const maxOutage = 15_000;

const selectNow = statement('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now');

export interface PostgresOptions {
  readonly url: string;
  readonly clock: Clock;
  /** The longest that a turn may go without a word of this process, in milliseconds; then the server ends it. */
  readonly maxSilence: number;
}

/**
 * Opens a state in PostgreSQL. All locks belong to the session of one connection: they end with it, and a turn writes
 * over no other.
 */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const connection = new Connection(options);
  await connection.again(async () => {});
  return {
    isFreshFor: 250,
    transact: connection.transact,
    ask: (questions) =>
      connection.again(async (session) => {
        const at = options.clock.monotonic();
        const [time, ...answers] = await session.ask([selectNow, ...questions]);
        return { moment: { now: Number(time?.[0]?.now), at }, answers };
      }),
    takeTurn: (service, wait) => connection.takeTurn(numberOf(service), wait),
    lockRun: (run) => connection.lockRun(numberOf(run)),
    lockedAmong: async () => new Set(),
    describe: async () => ({ engine: 'postgresql', location: '', schema: schemaVersion, bytes: 0, warnings: [] }),
    check: async () => [],
    reclaim: async () => {},
    forgetRun: () => {},
    close: () => connection.close(),
  };
}

/** One session of the database. */
class Session {
  readonly #client: Client;
  isOver = false;

  constructor(client: Client) {
    this.#client = client;
    const end = () => (this.isOver = true);
    client.on('error', end).on('end', end);
  }

  /** Sends statements in one round trip. */
  async ask(statements: readonly Statement[]): Promise<Answers> {
    try {
      const sent = statements.map(({ sql, values }) =>
        this.#client.query<Answer>({ text: numbered(sql), values: [...values] }),
      );
      const settled = await Promise.allSettled(sent);
      const failed = settled.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return settled.map((one) => (one.status === 'fulfilled' ? (one.value.rows ?? []) : []));
    } catch (error) {
      // Classes 08 and 57 are about the connection and the server: everything else is an error of the statement.
      const { code = '' } = error as { code?: string };
      if (!this.isOver && /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code)) throw error;
      this.isOver = true;
      this.#client.end().catch(() => {});
      throw new LostConnectionError((error as Error).message, { cause: error });
    }
  }

  end(): Promise<void> {
    return this.#client.end().catch(() => {});
  }
}

class Connection {
  readonly #options: PostgresOptions;
  #session: Session | undefined;
  #line: Promise<unknown> = Promise.resolve();

  constructor(options: PostgresOptions) {
    this.#options = options;
  }

  /** Runs `work`, one at a time, and again over a new connection if it was lost. */
  again<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#inLine(async () => {
      const { clock } = this.#options;
      const until = clock.monotonic() + maxOutage;
      for (;;) {
        try {
          this.#session = this.#session === undefined || this.#session.isOver ? await this.#connect() : this.#session;
          return await work(this.#session);
        } catch (error) {
          if (!(error instanceof LostConnectionError)) throw error;
          if (clock.monotonic() > until)
            throw new UnavailableError(`The shared state can't be reached: ${error.message}`);
          await clock.sleep(200);
        }
      }
    });
  }

  #inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#line.then(work);
    this.#line = turn.catch(() => {});
    return turn;
  }

  readonly transact: Transact = (questions, decide, durable) =>
    this.again((session) => this.#transact(session, questions, decide, durable));

  async #transact<Result>(
    session: Session,
    questions: readonly Statement[],
    decide: (answers: Answers, moment: Moment) => Decided<Result>,
    durable = false,
  ): Promise<Result> {
    const at = this.#options.clock.monotonic();
    const begin = [
      statement('BEGIN'),
      statement(
        `SELECT set_config('synchronous_commit', '${durable ? 'on' : 'off'}', true), set_config('lock_timeout', '5000', true)`,
      ),
      statement(`SELECT pg_advisory_xact_lock(${locks.transaction}, 0)`),
      selectNow,
    ];
    const [, , , time, ...answers] = await session.ask([...begin, ...questions]);
    try {
      const { writes, result } = decide(answers, { now: Number(time?.[0]?.now), at });
      await session.ask([...writes, statement('COMMIT')]);
      return result;
    } catch (error) {
      if (!session.isOver) await session.ask([statement('ROLLBACK')]);
      throw error;
    }
  }

  async takeTurn(service: number, { signal, onWait }: TurnWait) {
    const began = this.#options.clock.monotonic();
    const { maxSilence } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      // The server's own queue is fair. It is left about once a second, to tell the user, and because a lock that
      // blocks the only connection would also keep outcomes from being recorded.
      const session = await this.again(async (current) => {
        await current.ask([
          statement(`SELECT set_config('idle_session_timeout', '${maxSilence}', false)`),
          statement(`SELECT pg_advisory_lock(${locks.turn}, ${service})`),
        ]);
        return current;
      }).catch((error) => {
        if ((error as { code?: string }).code !== '55P03') throw error;
        return undefined;
      });
      if (session !== undefined) return this.#turn(session, service);
      await onWait(this.#options.clock.monotonic() - began);
    }
  }

  #turn(session: Session, service: number) {
    const transact: Transact = (questions, decide, durable) =>
      this.#inLine(() => {
        if (session.isOver) throw new LostConnectionError('the turn has ended with its connection');
        return this.#transact(session, questions, decide, durable);
      });
    const release = async () => {
      // Not awaited: whatever is asked next is answered later.
      const ending = [
        statement(`SELECT pg_advisory_unlock(${locks.turn}, ${service})`),
        statement(`SELECT set_config('idle_session_timeout', '0', false)`),
      ];
      void this.#inLine(async () => session.isOver || session.ask(ending)).catch(() => {});
    };
    return {
      transact,
      release,
      get isLost() {
        return session.isOver;
      },
    };
  }

  async lockRun(run: number): Promise<Lock | undefined> {
    const tryLock = statement(`SELECT pg_try_advisory_lock(${locks.run}, ${run})::text AS taken`);
    const { session, isTaken } = await this.again(async (session) => {
      const [[row] = []] = await session.ask([tryLock]);
      return { session, isTaken: row?.taken === 'true' };
    });
    if (!isTaken) return undefined;
    const unlock = statement(`SELECT pg_advisory_unlock(${locks.run}, ${run})`);
    return {
      get isLost() {
        return session.isOver;
      },
      release: async () => void this.#inLine(async () => session.isOver || session.ask([unlock])).catch(() => {}),
    };
  }

  async #connect(): Promise<Session> {
    const { default: pg } = await import('pg');
    const client = new pg.Client({
      ...{ connectionString: this.#options.url, connectionTimeoutMillis: 5000, application_name: 'petstock' },
      ...{ pipeline: true, types: { getTypeParser: () => String } },
      // A lost machine must not hold a turn for hours, and a stopped process no transaction.
      options:
        '-c search_path=petstock_core -c lock_timeout=1000 -c idle_in_transaction_session_timeout=2000 -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 -c client_min_messages=warning',
    } as object);
    const session = new Session(client);
    try {
      await client.connect();
    } catch (error) {
      session.isOver = true;
      throw new LostConnectionError((error as Error).message, { cause: error });
    }
    await this.#prepare(session);
    return session;
  }

  async #prepare(session: Session): Promise<void> {
    const [[schema] = []] = await session.ask([
      statement("SELECT to_regclass('petstock_core.rows_in_flight')::text AS name"),
    ]);
    if (schema?.name !== null && schema?.name !== 'null' && schema?.name !== undefined) return;
    const lock = statement(`SELECT pg_advisory_xact_lock(${locks.transaction}, 0)`);
    const create = tables.split(';').filter((sql) => sql.trim() !== '');
    await session.ask([
      statement('BEGIN'),
      lock,
      statement('CREATE SCHEMA petstock_core'),
      ...create.map((sql) => statement(sql)),
      statement('COMMIT'),
    ]);
  }

  async close(): Promise<void> {
    await this.#line;
    await this.#session?.end();
  }
}

/** Returns the second number of an advisory lock. */
function numberOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 8), 16) | 0;
}

/** Replaces each `?` by `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}
