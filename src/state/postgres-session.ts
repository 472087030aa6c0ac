import type { ConnectionOptions } from 'node:tls';
import type { Client, ClientConfig } from 'pg';
import type { Clock } from '../shared/clock.ts';
import type { DatabaseAddress, DatabaseHost } from '../shared/database-url.ts';
import { FailureError, PetstockError, readErrorReason, UnavailableError } from '../shared/errors.ts';
import { petstock } from '../shared/hint.ts';
import { readTrustedFile } from '../shared/private-files.ts';
import { LostConnectionError } from './state-store.ts';
import { type Answer, type Answers, number, type Statement, statement } from './statements.ts';

/** Time limits, in milliseconds. The server ends a statement before the client gives up, so its outcome is known. */
const timeouts = { connect: 5000, statement: 8000, answer: 10_000, longAnswer: 3_600_000, close: 1000 };

/**
 * Settings of a session. They override those of the role. A client that is stopped within a transaction, or whose
 * machine is gone, holds up the others for seconds only.
 */
const settings = [
  'search_path=petstock',
  `statement_timeout=${timeouts.statement}`,
  'lock_timeout=1000',
  'idle_in_transaction_session_timeout=2000',
  'client_connection_check_interval=1000',
  'tcp_keepalives_idle=5',
  'tcp_keepalives_interval=2',
  'tcp_keepalives_count=3',
  'tcp_user_timeout=10000',
  'extra_float_digits=1',
  'client_min_messages=error',
];

/** Earlier servers have no `idle_session_timeout`. */
const oldestServer = 140_000;

/** One session of the database: all locks that it takes end with it. */
export class Session {
  readonly #client: Client;
  readonly #shown: string;
  #isOver = false;
  /** The process of the server that serves this session, and when it began. */
  backend: readonly [pid: number, began: string] = [0, ''];

  constructor(client: Client, shown: string) {
    this.#client = client;
    this.#shown = shown;
    const end = () => {
      this.#isOver = true;
    };
    client.on('error', end).on('end', end);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Sends statements in one round trip. Each is a transaction of its own, unless the statements begin one.
   * @param isLong whether they may take up to an hour
   * @throws the first error: LostConnectionError if it is not known what was carried out; `LockTimeout` for a lock that
   * was not free in time; UnavailableError if the database is too busy; FailureError if it can't be used
   */
  async ask(statements: readonly Statement[], isLong = false): Promise<Answers> {
    const queryTimeout = isLong ? timeouts.longAnswer : timeouts.answer;
    const sent = statements.map(({ sql, values }) =>
      this.#client.query<Answer>(
        Object.assign({ text: numbered(sql), values: [...values] }, { query_timeout: queryTimeout }),
      ),
    );
    const settled = await Promise.allSettled(sent);
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw this.#errorOf(failed.reason);
    return settled.map((one) => (one.status === 'fulfilled' ? (one.value.rows ?? []) : []));
  }

  #errorOf(error: Error): unknown {
    const state = this.#isOver ? undefined : stateOf(error);
    if (state !== undefined && !lostStates.test(state)) return stateError(error, state, this.#shown);
    this.destroy();
    return new LostConnectionError(reasonOf(error), { cause: error });
  }

  /**
   * Ends another session of this process that may still be open at the server, and hold its locks there: one that waits
   * for a standby, or whose end the network has not told.
   */
  async endOther({ backend: [pid, began] }: Session): Promise<void> {
    const end =
      'SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE pid = ? AND backend_start::text = ?';
    await this.ask([statement(end, pid, began)]);
  }

  /** Closes the session at once. */
  destroy(): void {
    this.#isOver = true;
    (this.#client as Client & { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }

  /** Closes the session when what was asked is answered. Never rejects. */
  async end(clock: Clock): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const deadline = clock.deadline(timeouts.close, () => this.destroy());
    await this.#client.end().catch(() => {});
    deadline.clear();
  }
}

/** What a database has in the schema `petstock`. */
export interface Connected {
  readonly session: Session;
  /** The version of its tables; undefined if there are none. */
  readonly schema: number | undefined;
}

/**
 * Connects to the first server of an address that accepts writes.
 * @throws LostConnectionError if there is none; FailureError if the database can't be used
 */
export async function connect(address: DatabaseAddress): Promise<Connected> {
  const failures: string[] = [];
  const servers = serversOf(address);
  for (const server of servers) {
    try {
      return await connectTo(server);
    } catch (error) {
      if (!(error instanceof LostConnectionError)) throw error;
      failures.push(servers.length === 1 ? error.message : `${server.host}:${server.port}: ${error.message}`);
    }
  }
  throw new LostConnectionError(failures.join('; '));
}

async function connectTo(server: DatabaseServer): Promise<Connected> {
  const { session, pid } = await openSession(server, tlsOptions(server)).catch((error) => {
    if (!mayGoWithout(server, error)) throw error;
    return openSession(server, false);
  });
  try {
    // In one round trip.
    const [[[found] = []], schema] = await Promise.all([session.ask([selectSession]), schemaOf(session)]);
    if (Number(found?.pid) !== pid) throw isPooler(server.shown);
    session.backend = [pid, String(found?.began)];
    if (Number(found?.version) < oldestServer) {
      throw new FailureError(`The shared state at ${server.shown} needs PostgreSQL 14 or later`);
    }
    if (found?.readonly === 'on') throw new LostConnectionError('the server is a standby, or read-only');
    return { session, schema };
  } catch (error) {
    session.destroy();
    throw error;
  }
}

const selectSession = statement(
  `SELECT pg_backend_pid() AS pid, (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS began,
     current_setting('server_version_num') AS version, current_setting('transaction_read_only') AS readonly`,
);

const selectSchema = statement('SELECT schema FROM petstock.meta');

/** Returns the version of the tables; undefined if there are none. */
async function schemaOf(session: Session): Promise<number | undefined> {
  try {
    const [[meta] = []] = await session.ask([selectSchema]);
    return number(meta?.schema);
  } catch (error) {
    if (!missing.includes(stateOf((error as Error).cause) ?? '')) throw error;
    return undefined;
  }
}

/** Like `schemaOf`, within a transaction, which an error would end. */
export async function schemaWithin(session: Session): Promise<number | undefined> {
  // `to_regclass` can't be used: even under a lock it may return an outdated result.
  const select = "SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'";
  const [[found] = []] = await session.ask([statement(select)]);
  return found === undefined ? undefined : schemaOf(session);
}

function isPooler(shown: string): FailureError {
  return new FailureError(
    `The shared state at ${shown} is behind a pooler, such as PgBouncer, where locks don't belong to one connection. Use the address of the server itself`,
    { hint: 'petstock config set state-url' },
  );
}

async function openSession(server: DatabaseServer, ssl: ConnectionOptions | false) {
  // Loaded late, because `pg` takes a while to load.
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    ...driverOptions(server, ssl, timeouts.connect),
    ...{ application_name: 'petstock', pipeline: true },
    // All values stay text.
    types: { getTypeParser: () => String },
    options: settings.map((setting) => `-c ${setting}`).join(' '),
  } as object);
  const session = new Session(client, server.shown);
  try {
    await client.connect();
    return { session, pid: (client as unknown as { readonly processID: number }).processID };
  } catch (error) {
    session.destroy();
    if (mayGoWithout(server, error)) throw error;
    const state = stateOf(error);
    if (/unsupported startup parameter/.test((error as Error).message)) throw isPooler(server.shown);
    if (state === undefined || lostStates.test(state) || state === tooMany)
      throw new LostConnectionError(reasonOf(error as Error));
    throw stateError(error as Error, state, server.shown);
  }
}

/** Thrown if a lock was not free within a second. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout';
}

/** SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html. A read-only server was replaced. */
const lostStates = /^(08|57P0[1235]|25006|25P03)/;
const busyStates = /^(57014|53|40001|40P01|58)/;
const lockTimeout = '55P03';
const tooMany = '53300';
const refused = '42501';
/** Without the table or the schema. */
const missing = ['42P01', '3F000'];

/** @returns the SQLSTATE of an error from PostgreSQL itself; undefined for any other, such as a network error */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

function stateError(error: Error, state: string, shown: string): Error {
  if (error instanceof PetstockError) return error;
  if (state === lockTimeout) return new LockTimeout(error.message, { cause: error });
  if (busyStates.test(state)) {
    return new UnavailableError(`The shared state at ${shown} is too busy: ${error.message}`, {
      hint: 'petstock state info',
      cause: error,
    });
  }
  const rights =
    'Its owner gives a role USAGE on the schema petstock, and SELECT, INSERT, UPDATE and DELETE on its tables';
  const advice = state === refused ? `. ${rights}` : '';
  return new FailureError(`The shared state at ${shown} can't be used: ${error.message}${advice}`, {
    hint: petstock`config set state-url`,
    cause: error,
  });
}

/** Returns why a server can't be reached. */
function reasonOf(error: Error): string {
  const { code, errors } = error as NodeJS.ErrnoException & { readonly errors?: readonly Error[] };
  if (/read timeout/.test(error.message)) return 'it does not respond';
  if (/timeout expired/.test(error.message)) return 'it did not accept a connection in time';
  if (/^Connection terminated|is not queryable$/.test(error.message)) return 'the connection was lost';
  if (error.message !== '') return error.message;
  // Node tries all addresses of a name; its combined error has no message of its own.
  return errors?.map(({ message }) => message).join('; ') || code || 'the connection was lost';
}

/** Replaces each `?` by `$1`, `$2` and so on. No SQL text contains a quoted `?`. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}

/** An address with one of its hosts. */
type DatabaseServer = DatabaseAddress & DatabaseHost;

export function serversOf(address: DatabaseAddress): readonly DatabaseServer[] {
  return address.hosts.map((host) => ({ ...address, ...host }));
}

/**
 * Returns the options for `pg` to connect to a server: the parsed parts, never a URL, because `pg` would parse it by
 * its own rules.
 * @param usual time limit for connecting in milliseconds, unless the address sets one
 */
export function driverOptions(server: DatabaseServer, ssl: ConnectionOptions | false, usual: number) {
  const { host, port, user, password, database, connectTimeout } = server;
  return {
    host,
    port,
    ...(user !== undefined && { user }),
    ...(database !== undefined && { database }),
    // Without a password `pg` would look for a file, and warn.
    password: password ?? '',
    // Without `ssl`, variables such as PGSSLMODE would apply.
    ssl,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout === undefined ? usual : connectTimeout * 1000,
  } satisfies ClientConfig;
}

/**
 * Returns the TLS options of a server, with libpq's meaning of sslmode: `require` encrypts without verifying the
 * certificate, unless an authority is named. `prefer` continues without TLS if the server has none (`mayGoWithout`).
 * False if TLS is disabled, or for a Unix socket.
 * @throws FailureError if a file of the address can't be used
 */
export function tlsOptions(server: DatabaseServer): ConnectionOptions | false {
  const { mode, authority, certificate, key } = server.tls;
  if (mode === 'disable' || server.host.startsWith('/')) return false;
  const ca = authority === undefined || mode === 'prefer' ? undefined : readPem(authority);
  return {
    rejectUnauthorized: mode.startsWith('verify') || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: readPem(certificate) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Reports whether to connect without TLS: the server does not support it, and the mode is `prefer`. */
export function mayGoWithout({ tls }: DatabaseServer, error: unknown): boolean {
  return tls.mode === 'prefer' && error instanceof Error && /does not support SSL/.test(error.message);
}

const maxPem = 16 * 1024 * 1024;

/**
 * Reads a PEM file that the database URL names.
 * @throws FailureError if it can't be read, or if another user could have changed it, because whoever chooses the
 * authority can impersonate the server
 */
function readPem(file: string): string {
  const what = `The file ${file} in the database URL`;
  try {
    const text = readTrustedFile(file, maxPem);
    if (text !== undefined) return text;
  } catch (cause) {
    if (cause instanceof FailureError) throw cause.with({ message: `${cause.message}. The database URL names it` });
    throw new FailureError(`${what} can't be read: ${readErrorReason(cause)}`, { cause });
  }
  throw new FailureError(`${what} can't be read: there is no such file`);
}
