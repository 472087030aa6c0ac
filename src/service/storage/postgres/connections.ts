import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type DatabaseServer, mayGoWithout, tlsOptions } from '../../../shared/database-driver.ts';
import {
  ANSWER_MS,
  CONNECT_MS,
  common,
  failure,
  isLost,
  isTransient,
  requireSessions,
  serversAt,
} from './database-errors.ts';
import { endPools, openPools, type Pools, READERS, WORKERS } from './pools.ts';
import { Readers } from './readers.ts';

export type Client = pg.PoolClient;

/** Maximum wait in milliseconds until connections have ended. Then they are destroyed: their server may be gone. */
const GOODBYE_MS = 1_000;

/** Maximum number of attempts of work that PostgreSQL undoes because of a deadlock or a serialization failure. */
const ATTEMPTS = 4;

/**
 * A statement that each connection plans once, because planning a frequent statement takes longer than running it. It
 * names its columns, because a plan for `*` fails once a later version adds a column.
 */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

export class Connections {
  readonly #servers: readonly DatabaseServer[];
  /** Servers that have no TLS, and whose URLs allow that. */
  readonly #plain = new Set<DatabaseServer>();
  readonly #sockets = new Set<Socket>();
  /** Index of the server in use. */
  #current = 0;
  readonly #readers = new Readers(READERS, CONNECT_MS);
  #pools: Pools;
  #closing: Promise<void> | null = null;
  failedChanges = 0;

  /**
   * @param urls the URLs of the servers of one database; of several, the first that accepts writes is used
   * @throws StorageError for an invalid URL
   */
  constructor(urls: readonly string[]) {
    this.#servers = serversAt(urls);
    this.#pools = this.#open();
  }

  /** Returns the number of connections, of idle connections, and of requests that wait for a connection. */
  get pool(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { workers, readers } = this.#pools;
    const sum = (name: 'totalCount' | 'idleCount' | 'waitingCount') => workers[name] + readers[name];
    return { total: sum('totalCount'), idle: sum('idleCount'), waiting: sum('waitingCount') };
  }

  /**
   * Refuses a pooler in transaction mode in front of the server in use. Does nothing if the server can't be reached.
   * @throws StorageError for such a pooler, or if the test fails
   */
  requireSessions(): Promise<void> {
    return requireSessions((connect) => {
      return connect(this.#config()).catch((error) => {
        if (!this.#goesWithoutTls(error)) throw error;
        this.#renew(this.#pools);
        return connect(this.#config());
      });
    }, WORKERS);
  }

  /**
   * Runs one statement that only reads.
   * @param answerMs the time limit in milliseconds
   * @throws StorageError if the statement fails
   */
  async read<Row extends object>(
    statement: string | Prepared,
    values: readonly unknown[] = [],
    answerMs = ANSWER_MS,
  ): Promise<readonly Row[]> {
    const config = { ...prepared(statement), values: [...values], query_timeout: answerMs };
    return this.#run(async (client) => (await client.query<Row>(config)).rows, true);
  }

  /**
   * Runs one statement that changes something.
   * @throws StorageError if the statement fails, of the kind `uncertain` if the connection was lost
   */
  async change<Row extends object>(
    statement: string | Prepared,
    values: readonly unknown[] = [],
  ): Promise<readonly Row[]> {
    const config = { ...prepared(statement), values: [...values] };
    return this.#run(async (client) => (await client.query<Row>(config)).rows, false);
  }

  /**
   * Runs `work` in a transaction, and again after a deadlock or a serialization failure.
   * @throws StorageError if the transaction was undone; of the kind `uncertain` if the connection was lost
   */
  transact<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    return this.#run(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    }, false);
  }

  /**
   * Reads a snapshot on a connection of its own. A slow read does not block writers.
   * @param who the reader; readers share the connections
   * @throws StorageError, also if no connection is free in time
   */
  async *snapshot<Part>(read: (client: Client) => AsyncGenerator<Part, void>, who: string): AsyncGenerator<Part, void> {
    const release = await this.#readers.acquire(who);
    try {
      yield* this.#snapshot(read);
    } finally {
      release();
    }
  }

  async *#snapshot<Part>(read: (client: Client) => AsyncGenerator<Part, void>): AsyncGenerator<Part, void> {
    const { pools, client } = await this.#connected('readers');
    let isDone = false;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      yield* read(client);
      await client.query('COMMIT');
      isDone = true;
    } catch (error) {
      throw failure(error, false);
    } finally {
      // A reader that stops early ends its transaction or closes its connection, because its snapshot would keep the
      // database from cleaning up.
      this.#release(pools, client, isDone || (await tryRollback(client)));
    }
  }

  /** Closes all connections. Work that is still pending after 1 s fails. May be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#close(this.#pools);
    return this.#closing;
  }

  #open(): Pools {
    return openPools(this.#config(), this.#servers.length > 1);
  }

  #config() {
    const stream = () => {
      const socket = new Socket();
      this.#sockets.add(socket);
      return socket.once('close', () => this.#sockets.delete(socket));
    };
    const server = this.#server;
    return { ...common(server, this.#plain.has(server) ? false : tlsOptions(server)), stream };
  }

  get #server(): DatabaseServer {
    const server = this.#servers[this.#current];
    if (server === undefined) throw new Error('no server');
    return server;
  }

  /**
   * Records that the server has no TLS, if that is why it can't be reached and its URL allows that.
   * @returns whether it was recorded
   */
  #goesWithoutTls(error: unknown): boolean {
    const server = this.#server;
    if (this.#plain.has(server) || !mayGoWithout(server, error)) return false;
    this.#plain.add(server);
    return true;
  }

  async #close(pools: Pools): Promise<void> {
    const over = endPools(pools);
    const goodbyes = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await Promise.race([Promise.all(goodbyes), sleep(GOODBYE_MS, undefined, { ref: false })]);
    for (const socket of this.#sockets) socket.destroy();
    await over;
  }

  async #run<Result>(work: (client: Client) => Promise<Result>, onlyReads: boolean): Promise<Result> {
    for (let tried = 1; ; tried++) {
      try {
        return await this.#once(work, onlyReads);
      } catch (error) {
        if (tried === ATTEMPTS || !(error instanceof Error && isTransient(error.cause))) throw error;
      }
    }
  }

  async #once<Result>(work: (client: Client) => Promise<Result>, onlyReads: boolean): Promise<Result> {
    const { pools, client } = await this.#connected('workers');
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      if (!onlyReads) this.failedChanges++;
      // A connection in an unknown state is not used again; closing it undoes uncommitted changes.
      const isUsable = !isLost(error) && (await tryRollback(client));
      this.#release(pools, client, isUsable);
      throw failure(error, !(onlyReads || isUsable));
    }
  }

  #release(pools: Pools, client: Client, isUsable: boolean): void {
    client.release(!isUsable);
    if (!isUsable) this.#renew(pools);
  }

  /**
   * Returns a connection from a pool.
   * @throws StorageError if no connection is free in time, or none can be opened
   */
  async #connected(kind: keyof Pools): Promise<{ readonly pools: Pools; readonly client: Client }> {
    for (let tried = 1; ; tried++) {
      const pools = this.#pools;
      try {
        return { pools, client: await pools[kind].connect() };
      } catch (error) {
        if (this.#pools === pools && this.#goesWithoutTls(error)) {
          this.#renew(pools);
          continue;
        }
        // All connections of the pool were in use for too long.
        const isBusy = error instanceof Error && error.message.startsWith('timeout exceeded');
        if (tried >= this.#servers.length || !isLost(error) || isBusy) throw failure(error, false);
        if (this.#pools === pools) this.#current = (this.#current + 1) % this.#servers.length;
        this.#renew(pools);
      }
    }
  }

  /**
   * Opens new connections after one was lost. The other connections may lead to the same dead server, and each would
   * take its own time to fail.
   */
  #renew(lost: Pools): void {
    if (this.#pools !== lost || this.#closing !== null) return;
    this.#pools = this.#open();
    void endPools(lost);
  }
}

function prepared(statement: string | Prepared): Partial<Prepared> & Pick<Prepared, 'text'> {
  return typeof statement === 'string' ? { text: statement } : statement;
}

function tryRollback(client: Client): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

/** Returns a statement with `$1`, `$2` and so on instead of question marks. */
export function numbered(statement: string): string {
  let count = 0;
  return statement.replace(/\?/g, () => `$${++count}`);
}
