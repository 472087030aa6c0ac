import type { ConnectionOptions } from 'node:tls';
import type { Submittable } from 'pg';
import { type DatabaseServer, driverOptions, mayGoWithout, tlsOptions } from '../../shared/database-driver.ts';
import { UnavailableError } from '../../shared/errors.ts';
import type { ResultSets, Row, Statement } from '../statements.ts';
import { timeouts } from './client-config.ts';
import { Pipeline, type Protocol } from './pipeline.ts';

/** One connection to PostgreSQL; what is used of `pg`. */
export interface Wire {
  /**
   * Asks statements in one round trip, which is one transaction unless they begin or end one. Nothing else is asked meanwhile.
   * @param answerWithin milliseconds
   * @throws the errors of `pg` and of the network as they are
   */
  query(statements: readonly Statement[], answerWithin: number): Promise<ResultSets>;
  /** Whether nothing more can be asked. */
  readonly isOver: boolean;
  /** Ends it in good order; never rejects. */
  close(): Promise<void>;
  /** Ends it at once. */
  destroy(): void;
}

/** @param onNotice called when somebody has sent a NOTIFY. Anybody may: what it says is not looked at */
export type OpenWire = (server: DatabaseServer, onNotice: () => void) => Promise<Wire>;

/**
 * @throws the errors of `pg` and of the network as they are, one of the same kind if the server takes no writes; FailureError for a
 *   certificate that can't be read
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
  // Late: it takes a while to load.
  const { default: pg } = await import('pg');
  const options = driverOptions(server, ssl, timeouts.connect);
  const client = new pg.Client({ ...options, application_name: 'petstock' });
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  client.on('error', end);
  client.on('end', end);
  client.on('notification', onNotice);
  const { connection } = client as unknown as { readonly connection: Protocol };
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
    if (isStandby) throw new Error('the server is a standby, or takes no writes');
  } catch (error) {
    destroy();
    throw error;
  }
  // Only what is asked keeps the process alive.
  connection.stream.unref();
  return {
    query: async (statements, answerWithin) => {
      isAlone = false;
      connection.stream.ref();
      const answers = await new Promise<Row[][]>((resolve, reject) => {
        const pipeline = new Pipeline(statements, (error, rows = []) =>
          error === null ? resolve(rows) : reject(error),
        );
        client.query(Object.assign(pipeline, { query_timeout: answerWithin }) as unknown as Submittable);
      }).finally(() => connection.stream.unref());
      if (isAlone) throw new NotOnStandbyError(server);
      return answers;
    },
    get isOver() {
      return isOver;
    },
    close: async () => {
      if (isOver) return;
      isOver = true;
      connection.stream.ref();
      await client.end().catch(() => {});
    },
    destroy,
  };
}

/** It has been committed, and would be gone with the server: as if it had not been written, for what a promise hangs on. */
export class NotOnStandbyError extends UnavailableError {
  constructor({ shown }: Pick<DatabaseServer, 'shown'>) {
    super(`The shared state at ${shown} has written to one server alone, and not to the standby that it waits for`, {
      hint: 'petstock state info',
    });
  }
}
