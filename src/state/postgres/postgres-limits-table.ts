import { number, type Row, statement, text } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { isLost, isSilence } from './postgres-errors.ts';

/** The limits of a key as they are stored. */
export interface StoredLimits {
  /** 0: the key has no row yet. */
  readonly version: number;
  /** Undefined: as in the version that is known already. */
  readonly state: string | undefined;
}

/** The table of limits, and how it is reached. */
export interface LimitsTable {
  readonly connection: Pick<PostgresConnection, 'time' | 'generation' | 'heardAt' | 'align' | 'inWords'>;
  /** Reads the clock, too. @param known the version that is known already */
  read(scope: string, known: number): Promise<StoredLimits>;
  /**
   * Writes the limits of a key if they are still those of a version.
   * @param wakes whether all others are to look at them at once
   * @returns what they are then. @throws the error of the network as it is
   */
  write(
    scope: string,
    version: number,
    state: string,
    wakes: boolean,
  ): Promise<StoredLimits & { readonly isWritten: boolean }>;
  /** Changes them under a lock. @param change is given what they are, and returns what they become */
  change(scope: string, change: (stored: StoredLimits) => string, wakes: boolean): Promise<StoredLimits>;
  /** Resolves when all that was written is on the disk, and on the standby that commits wait for. It holds no lock meanwhile. */
  keepWritten(): Promise<void>;
  list(): Promise<readonly { readonly scope: string; readonly state: string }[]>;
}

/** Versions begin at the microsecond: a crash may lose the row, and none that was read of it may come again. */
const insert =
  'INSERT INTO petstock.limits (scope, version, state) VALUES (?, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, ?) ON CONFLICT (scope) DO NOTHING RETURNING version';
const update =
  'UPDATE petstock.limits SET version = version + 1, state = ? WHERE scope = ? AND version = ? RETURNING version';
const select =
  'SELECT version, CASE version WHEN ? THEN NULL ELSE state END AS state FROM petstock.limits WHERE scope = ?';
/** Others are told before a disk or a standby is waited for. What they are told is only that there is something to look at. */
const wake = statement("SELECT pg_notify('petstock', '')");

export function limitsTable(connection: PostgresConnection): LimitsTable {
  const writing = (scope: string, version: number, state: string) =>
    version === 0 ? statement(insert, scope, state) : statement(update, state, scope, version);
  return {
    connection,
    read: async (scope, known) => {
      const { answers } = await connection.again((ask) => connection.timed(ask, [], [statement(select, known, scope)]));
      return storedIn(answers[0]?.[0]);
    },
    write: async (scope, version, state, wakes) => {
      const statements = [
        writing(scope, version, state),
        // All of it: the version that another process has written meanwhile may have the number of ours.
        statement(select, 0, scope),
        ...(wakes ? [wake] : []),
      ];
      const { answers } = await connection.once((ask) =>
        connection.timed(ask, [], [...statements, commit], { begins: true }),
      );
      const [written = [], found = []] = answers;
      return { ...storedIn(found[0]), isWritten: written.length > 0 };
    },
    change: async (scope, change, wakes) =>
      connection.once(async (ask) => {
        const [rows = []] = await ask(
          [statement('SELECT version, state FROM petstock.limits WHERE scope = ? FOR UPDATE', scope)],
          {
            begins: true,
          },
        );
        const { version } = storedIn(rows[0]);
        const state = change(storedIn(rows[0]));
        const [written = []] = await ask([writing(scope, version, state), ...(wakes ? [wake] : []), commit], {
          goesOn: true,
        });
        if (written.length === 0) throw new Error(`the limits of ${scope} changed under their lock`);
        return { ...storedIn(written[0]), state };
      }),
    keepWritten: async () => {
      try {
        const message = statement("SELECT pg_logical_emit_message(true, 'petstock', '')");
        await connection.once((ask) => ask([message], { isDurable: true }));
      } catch (error) {
        // A standby that is away is no reason to end a command that only reads.
        if (isLost(error) && !isSilence(error)) throw error;
      }
    },
    list: async () => {
      const [rows = []] = await connection.ask([statement('SELECT scope, state FROM petstock.limits ORDER BY scope')]);
      return rows.map(({ scope, state }) => ({ scope: String(scope), state: String(state) }));
    },
  };
}

const commit = statement('COMMIT');

function storedIn(row: Row | undefined): StoredLimits {
  return row === undefined
    ? { version: 0, state: undefined }
    : { version: number(row.version) ?? 0, state: text(row.state) };
}
