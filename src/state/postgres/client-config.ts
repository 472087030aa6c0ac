import { type Statement, statement } from '../statements.ts';

/**
 * In milliseconds. The server gives a statement up before we give the answer up, so that mostly it is known what became of it; and it ends a
 * client that was stopped inside a transaction before those that wait for its lock give up.
 */
export const timeouts = {
  connect: 5000,
  lock: 5000,
  statement: 8000,
  answer: 10_000,
  idleInTransaction: 2000,
  patient: 60_000,
};

export interface QueryOptions {
  readonly isDurable?: boolean;
  /** It may take long, and waits long for locks. */
  readonly noStatementTimeout?: boolean;
  /** The settings are there already: a transaction goes on. */
  readonly goesOn?: boolean;
  /** A transaction begins that goes on with the next round trip. */
  readonly begins?: boolean;
}

/**
 * Settings that each round trip begins with. They end with the transaction, so that nothing of it leaks to another client of a pooler. What is read under a
 * lock has to be what was committed before it, and times have all of their digits: these go before the settings of a role. Names are looked up in
 * the catalogue alone: whoever may create something in another schema has no say in what a statement of ours means.
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
      local('lock_timeout', String(noStatementTimeout ? timeouts.patient : timeouts.lock)),
      local('idle_in_transaction_session_timeout', String(timeouts.idleInTransaction)),
      local('extra_float_digits', '1'),
      commit,
      'pg_catalog.pg_backend_pid() AS pid',
    ].join()}`,
  );
}
