import type { ConnectionOptions } from 'node:tls';
import { UnavailableError } from '../../shared/errors.ts';
import { beginning, configOf, type DatabaseServer, isSocket, timeouts, tlsOptions } from './client-config.ts';

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
export type OpenWire = (server: DatabaseServer, onNotice: (payload: string) => void) => Promise<Wire>;

/**
 * @throws the errors of `pg` and of the network as they are; StandbyError where nothing can be written; FailureError for a
 *   certificate that can't be read
 */
export const openWire: OpenWire = async (server, onNotice) => {
  const { tls } = server;
  if (tls.mode !== 'prefer' || isSocket(server)) return connect(server, onNotice, tlsOptions(server));
  try {
    return await connect(server, onNotice, { rejectUnauthorized: false });
  } catch (error) {
    if (!/does not support SSL/.test((error as Error).message)) throw error;
    return connect(server, onNotice, false);
  }
};

/** The server follows another one, or was set to take no writes. */
export class StandbyError extends Error {
  constructor() {
    super('the server is a standby, or takes no writes');
  }
}

async function connect(
  server: DatabaseServer,
  onNotice: (payload: string) => void,
  ssl: ConnectionOptions | boolean,
): Promise<Wire> {
  // Late: it takes a while to load.
  const { default: pg } = await import('pg');
  const client = new pg.Client(configOf(server, ssl));
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  client.on('error', end);
  client.on('end', end);
  client.on('notification', ({ payload }) => onNotice(payload ?? ''));
  const { connection } = client as unknown as { readonly connection: Connection };
  const destroy = () => {
    isOver = true;
    connection.stream.destroy();
  };
  // Every server from 14 on says this as it lets a client in.
  let isStandby = false;
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (/^(in_hot_standby|default_transaction_read_only)$/.test(parameterName)) isStandby ||= parameterValue === 'on';
  });
  // Committed, and not on the standby that the commit was to wait for: somebody has ended the wait.
  let isAlone = false;
  client.on('notice', ({ routine }) => {
    isAlone ||= routine === 'SyncRepWaitForLSN';
  });
  try {
    await client.connect();
    if (isStandby) throw new StandbyError();
    const first = { text: beginning, query_timeout: timeouts.answer };
    await client.query(first);
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    query: async (text, values, answerWithin) => {
      const query = { text, values: [...values], query_timeout: answerWithin };
      isAlone = false;
      const { rows } = await client.query<Row>(query);
      if (isAlone) throw new NotOnStandbyError(server);
      return rows;
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

/** What is used of the inside of `pg`. */
interface Connection {
  readonly stream: { destroy(): void };
  on(
    event: 'parameterStatus',
    listener: (message: { readonly parameterName: string; readonly parameterValue: string }) => void,
  ): void;
}

/** It has been committed, and would be gone with the server: as if it had not been written, for what a promise hangs on. */
class NotOnStandbyError extends UnavailableError {
  constructor({ shown }: DatabaseServer) {
    super(`The shared state at ${shown} has written to one server alone, and not to the standby that it waits for`, {
      hint: 'petstock state info',
    });
  }
}
