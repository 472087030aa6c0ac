import { type Statement, statement } from '../statements.ts';

/**
 * Time limits in milliseconds. The server cancels a statement before the client gives up on the reply, so the outcome
 * is usually known. It also disconnects a client that was suspended inside a transaction before other clients give up
 * waiting for the lock.
 */
export const timeouts = {
  connect: 5000,
  lock: 5000,
  statement: 8000,
  answer: 10_000,
  idleInTransaction: 2000,
  /** How long a statement waits for a lock, with `noStatementTimeout`. */
  longLock: 60_000,
};

export interface QueryOptions {
  readonly isDurable?: boolean;
  /** Whether to allow a long run time (up to an hour) and long waits for locks. */
  readonly noStatementTimeout?: boolean;
  /** Whether to send no BEGIN, settings or COMMIT, to continue a transaction or to run a statement outside of one. */
  readonly continues?: boolean;
  /** Whether to send no COMMIT after the statements: they contain it, or a later round trip sends it. */
  readonly begins?: boolean;
}

/**
 * Settings sent at the start of each transaction. They end with it, so none leaks to another client of a pooler. They
 * override settings of the role, which could, for instance, round times. Names without a schema are never looked up in
 * schemas that others can write to, so their objects can't change the meaning of a statement.
 */
export function settings({ isDurable, noStatementTimeout }: QueryOptions): Statement {
  const local = (name: string, value: string) => `pg_catalog.set_config('${name}', '${value}', true)`;
  const commit = isDurable
    ? `CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'remote_apply' THEN '' ELSE ${local('synchronous_commit', 'on')} END`
    : local('synchronous_commit', 'off');
  return statement(
    `SELECT ${[
      local('search_path', 'pg_catalog, pg_temp'),
      local('statement_timeout', noStatementTimeout ? '0' : String(timeouts.statement)),
      local('lock_timeout', String(noStatementTimeout ? timeouts.longLock : timeouts.lock)),
      local('idle_in_transaction_session_timeout', String(timeouts.idleInTransaction)),
      local('extra_float_digits', '1'),
      commit,
      'pg_catalog.pg_backend_pid() AS pid',
    ].join()}`,
  );
}
