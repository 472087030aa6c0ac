import { parseDatabaseUrl } from '../../shared/database-url.ts';
import { UsageError } from '../../shared/errors.ts';
import type { State } from '../state.ts';
import { type Ask, PostgresConnection } from './connection.ts';
import { type PostgresStateOptions, postgresState } from './postgres-state.ts';
import { migrate, read, requireMaking } from './schema.ts';
import { type OpenWire, openWire } from './wire.ts';

export interface OpenPostgresOptions extends PostgresStateOptions {
  /** `postgresql://…` */
  readonly url: string;
}

/**
 * The state that several machines share, in the schema `petstock` of a database; it is made there, or brought to this version.
 *
 * @throws UnavailableError where the database can't be reached, FailureError where it can't be used or a later version of
 *   petstock has written it, UsageError for a URL that makes no sense
 */
export async function openPostgres(options: OpenPostgresOptions, open: OpenWire = openWire): Promise<State> {
  return postgresState(await connect(options, open, migrate), options);
}

/** The same for commands that only look. @returns undefined where the database has no state; makes nothing then */
export async function openExistingPostgres(
  options: OpenPostgresOptions,
  open: OpenWire = openWire,
): Promise<State | undefined> {
  let exists = false;
  const connection = await connect(options, open, async (ask, shown) => {
    exists = (await read(ask, shown)) !== undefined;
    if (exists) await migrate(ask, shown);
    else await requireMaking(ask, shown);
  });
  if (exists) return postgresState(connection, options);
  await connection.close();
  return undefined;
}

function connect(
  { url, clock }: OpenPostgresOptions,
  open: OpenWire,
  prepare: (ask: Ask, shown: string) => Promise<void>,
): Promise<PostgresConnection> {
  const parsed = parseDatabaseUrl(url);
  if (!parsed.ok) throw new UsageError(`The state URL cannot be used: ${parsed.fault}.`);
  const address = parsed.value;
  return PostgresConnection.open({
    address,
    clock,
    openWire: open,
    prepare: (ask) => prepare(ask, address.shown),
  });
}
