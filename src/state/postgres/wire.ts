import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import type { DatabaseAddress } from '../../shared/database-url.ts';
import { FailureError } from '../../shared/errors.ts';

/** In milliseconds. The server gives a statement up before we give the answer up, so that mostly it is known what became of it. */
export const timeouts = { connect: 5000, lock: 5000, statement: 8000, answer: 10_000, idleInTransaction: 10_000 };

export type Row = Readonly<Record<string, unknown>>;

/** One connection to PostgreSQL; what is used of `pg`. Statements are answered in their order. */
export interface Wire {
  /**
   * @param answerWithin milliseconds
   * @throws the errors of `pg` and of the network as they are
   */
  query(text: string, values: readonly unknown[], answerWithin: number): Promise<readonly Row[]>;
  /** Whether nothing more can be asked. */
  readonly isOver: boolean;
  /** Ends it in good order; never rejects. */
  close(): Promise<void>;
  /** Ends it at once. */
  destroy(): void;
}

/** @param onNotice is given what another process has sent by NOTIFY on the channel `petstock` */
export type OpenWire = (address: DatabaseAddress, onNotice: (payload: string) => void) => Promise<Wire>;

/** @throws the errors of `pg` and of the network as they are; FailureError for a certificate that can't be read */
export const openWire: OpenWire = async (address, onNotice) => {
  const { tls } = address;
  if (tls.mode !== 'prefer' || isSocket(address)) return connect(address, onNotice, tlsOptions(address));
  try {
    return await connect(address, onNotice, { rejectUnauthorized: false });
  } catch (error) {
    if (!/does not support SSL/.test((error as Error).message)) throw error;
    return connect(address, onNotice, false);
  }
};

async function connect(
  address: DatabaseAddress,
  onNotice: (payload: string) => void,
  ssl: ConnectionOptions | boolean,
): Promise<Wire> {
  // Late: it takes a while to load.
  const { default: pg } = await import('pg');
  const client = new pg.Client(configOf(address, ssl));
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  client.on('error', end);
  client.on('end', end);
  client.on('notification', ({ payload }) => onNotice(payload ?? ''));
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const destroy = () => {
    isOver = true;
    stream.destroy();
  };
  try {
    await client.connect();
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    query: async (text, values, answerWithin) => {
      const query = { text, values: [...values], query_timeout: answerWithin };
      const result = await client.query<Row>(query);
      return result.rows;
    },
    get isOver() {
      return isOver;
    },
    close: async () => {
      if (isOver) return;
      isOver = true;
      await client.end().catch(() => {});
    },
    destroy,
  };
}

function configOf(address: DatabaseAddress, ssl: ConnectionOptions | boolean): ClientConfig {
  const { host, port, user, password, database, connectTimeout } = address;
  return {
    host,
    port,
    ...(user !== undefined && { user }),
    ...(database !== undefined && { database }),
    // Without one pg would look for a file, and warn.
    password: password ?? '',
    ssl,
    application_name: 'petstock',
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout === undefined ? timeouts.connect : connectTimeout * 1000,
    statement_timeout: timeouts.statement,
    lock_timeout: timeouts.lock,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
    // What is read under a lock has to be what was committed before it.
    options: '-c default_transaction_isolation=read\\ committed',
  };
}

function isSocket({ host }: DatabaseAddress): boolean {
  return host.startsWith('/');
}

/** As libpq means sslmode: `require` encrypts without asking whose certificate it is, unless an authority is named. */
function tlsOptions(address: DatabaseAddress): ConnectionOptions | false {
  const { mode, authority, certificate, key } = address.tls;
  if (mode === 'disable' || isSocket(address)) return false;
  const ca = authority === undefined ? undefined : readPem(authority);
  return {
    rejectUnauthorized: mode.startsWith('verify') || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: readPem(certificate) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new FailureError(`The file ${file}, which the state URL names, can't be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
