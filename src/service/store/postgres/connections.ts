import pg from 'pg';
import { failure, isLost, isTransient } from './failure.ts';

export type Client = pg.PoolClient;

/** All integers of 64 bits are bigints. */
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Milliseconds. A server that does not answer for this long is as one that is not there. */
const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;
const LOCK_MS = 5_000;

/** A service that is stopped in the middle of a transaction is not to hold its locks for longer than this. */
const IDLE_MS = 5_000;

/** A reader of the whole inventory may stand still for as long as its client may read nothing, and a little more. */
const READER_IDLE_MS = 90_000;

const WORKERS = 6;
const READERS = 10;

const ATTEMPTS = 4;

/** The connections of one service to its database: some for short work, some for those who read all of the inventory, however slowly. */
export class Connections {
  readonly #workers: pg.Pool;
  readonly #readers: pg.Pool;
  #closing: Promise<unknown> | null = null;

  constructor(url: string) {
    const common = {
      connectionString: url,
      application_name: 'petstock service',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      lock_timeout: LOCK_MS,
      keepAlive: true,
      types: TYPES,
    };
    this.#workers = new pg.Pool({ ...common, max: WORKERS, idle_in_transaction_session_timeout: IDLE_MS });
    this.#readers = new pg.Pool({ ...common, max: READERS, idle_in_transaction_session_timeout: READER_IDLE_MS });
    // An idle connection that ends is replaced when one is needed; without a listener it would end the process.
    for (const pool of [this.#workers, this.#readers]) pool.on('error', () => {});
  }

  /** Runs one statement that only reads. @throws StorageError */
  async read<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#once(async (client) => (await client.query<Row>(text, [...values])).rows, true);
  }

  /** Runs one statement that changes something by itself. @throws StorageError, which may be uncertain */
  async change<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#retried(() => this.#once(async (client) => (await client.query<Row>(text, [...values])).rows, false));
  }

  /**
   * Runs `work` on a connection: it begins, and ends with `COMMIT`. A failure undoes all of it.
   * @throws StorageError, uncertain when the connection was lost at the end
   */
  transact<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    return this.#retried(() =>
      this.#once(async (client) => {
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      }, false),
    );
  }

  /** Runs `work`, which begins and ends its transactions itself. @throws StorageError */
  session<Result>(work: (client: Client) => Promise<Result>, { onlyReads }: { onlyReads: boolean }): Promise<Result> {
    return this.#retried(() => this.#once(work, onlyReads));
  }

  /** A connection for a long reading, to be given back by `release`. @throws StorageError when none is free in time */
  async reader(): Promise<Client> {
    try {
      return await this.#readers.connect();
    } catch (error) {
      throw failure(error, false);
    }
  }

  close(): Promise<unknown> {
    this.#closing ??= Promise.all([this.#workers.end(), this.#readers.end()]);
    return this.#closing;
  }

  async #retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (let tried = 1; ; tried++) {
      try {
        return await attempt();
      } catch (error) {
        if (tried === ATTEMPTS || !(error instanceof Error && isTransient(error.cause))) throw error;
      }
    }
  }

  async #once<Result>(work: (client: Client) => Promise<Result>, onlyReads: boolean): Promise<Result> {
    const client = await this.#connected(onlyReads);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // A connection in an unknown state is not used again; its end undoes what was not committed.
      const isOver = isLost(error) || !(await undone(client));
      client.release(isOver);
      throw failure(error, !onlyReads);
    }
  }

  async #connected(_onlyReads: boolean): Promise<Client> {
    try {
      return await this.#workers.connect();
    } catch (error) {
      throw failure(error, false);
    }
  }
}

async function undone(client: Client): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}
