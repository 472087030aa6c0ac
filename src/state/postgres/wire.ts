import type { ConnectionOptions } from 'node:tls';
import type { Client, QueryConfig } from 'pg';
import { type DatabaseServer, driverOptions, mayGoWithout, tlsOptions } from '../../shared/database-driver.ts';
import { UnavailableError } from '../../shared/errors.ts';
import { type ResultSets, type Row, rewriting, type Statement } from '../statements.ts';
import { timeouts } from './client-config.ts';

/** A connection to PostgreSQL: the part of `pg` that is used. */
export interface Wire {
  /**
   * Sends statements in one round trip. Only one call may be pending.
   * @param answerWithin time limit in milliseconds
   * @throws the first error of `pg` or of the network, with the SQL of the failed statement in `statement`;
   * NotOnStandbyError
   */
  query(statements: readonly Statement[], answerWithin: number): Promise<ResultSets>;
  readonly isOver: boolean;
  /** Closes the connection cleanly; never rejects. */
  close(): Promise<void>;
  /** Closes the connection at once. */
  destroy(): void;
}

/** @param onNotice called when a NOTIFY arrives. Any client can send one, so its content is ignored */
export type OpenWire = (server: DatabaseServer, onNotice: () => void) => Promise<Wire>;

/**
 * Connects to a server, without encryption if the server has none and its URL allows that.
 * @throws the errors of `pg` and of the network unchanged; an Error without a code if the server is read-only;
 * FailureError for a certificate that can't be read
 */
export const openWire: OpenWire = async (server, onNotice) => {
  try {
    return await connect(server, onNotice, tlsOptions(server));
  } catch (error) {
    if (!mayGoWithout(server, error)) throw error;
    return connect(server, onNotice, false);
  }
};

async function connect(server: DatabaseServer, onNotice: () => void, ssl: ConnectionOptions | false): Promise<Wire> {
  // Loaded late, because `pg` takes a while to load.
  const { default: pg } = await import('pg');
  const options = driverOptions(server, ssl, timeouts.connect);
  const client = new pg.Client({
    ...{ ...options, application_name: 'petstock', pipeline: true },
    // All values stay text.
    types: { getTypeParser: () => String },
  }) as Client & { ref(): void; unref(): void };
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  client.on('error', end);
  client.on('end', end);
  client.on('notification', onNotice);
  const { connection } = client;
  const destroy = () => {
    isOver = true;
    connection.stream.destroy();
  };
  let isStandby = false;
  // Servers since PostgreSQL 14 report these parameters when a client connects.
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (/^(in_hot_standby|default_transaction_read_only)$/.test(parameterName)) isStandby ||= parameterValue === 'on';
  });
  // True if a statement was committed, but the wait for the standby's confirmation was cancelled.
  let isAlone = false;
  client.on('notice', ({ routine }) => {
    isAlone ||= routine === 'SyncRepWaitForLSN';
  });
  try {
    await client.connect();
    if (isStandby) throw new Error('the server is a standby, or read-only');
  } catch (error) {
    destroy();
    throw error;
  }
  // Only pending queries keep the process alive.
  client.unref();
  return {
    query: async (statements, answerWithin) => {
      isAlone = false;
      client.ref();
      const ask = ({ sql, values }: Statement) => {
        const query: QueryConfig = { text: numbered(sql), values: [...values] };
        return client.query<Row>(Object.assign(query, { query_timeout: answerWithin })).catch((error) => {
          throw Object.assign(error, { statement: sql });
        });
      };
      const answers = await Promise.all(statements.map(ask)).finally(() => client.unref());
      if (isAlone) throw new NotOnStandbyError(server);
      return answers.map(({ rows }) => rows);
    },
    get isOver() {
      return isOver;
    },
    close: async () => {
      if (isOver) return;
      isOver = true;
      client.ref();
      await client.end().catch(() => {});
    },
    destroy,
  };
}

/** Replaces each `?` by `$1`, `$2` and so on. No SQL text contains a quoted `?`. */
const numbered = rewriting((sql) => {
  const [first = '', ...parts] = sql.split('?');
  return parts.reduce((text, part, index) => `${text}$${index + 1}${part}`, first);
});

/** Thrown if a write was committed on the primary server only, so that it would be lost with that server. */
export class NotOnStandbyError extends UnavailableError {
  constructor({ shown }: Pick<DatabaseServer, 'shown'>) {
    super(`The shared state at ${shown} committed a write on its primary server only: the standby did not confirm it`, {
      hint: 'petstock state info',
    });
  }
}
