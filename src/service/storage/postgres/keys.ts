import { digestOf } from '../../keys/key.ts';
import type { Admission, Usage } from '../../limits/admission.ts';
import { RequestBatcher } from '../request-batcher.ts';
import {
  type Asked,
  decideAll,
  digestIn,
  type KeyRow,
  keyColumns,
  recordOf,
  registerSql,
  usageColumns,
  usageOf,
  usageValues,
} from '../rows.ts';
import { type KeyStorage, StorageError } from '../storage.ts';
import { type Connections, numbered, type Prepared } from './connections.ts';
import { NOW, type SchemaRow, SELECT_SCHEMA, type Seen, seenIn } from './schema.ts';

/** A row with its version: this shows whether the row has been changed since it was read. */
type VersionedRow = KeyRow & { readonly seen: string };

const BY_ID = `encode(substring(digest FROM 1 FOR 6), 'hex') = $1`;

/**
 * Maximum number of attempts to charge a key that other services charge at the same time. One of the services succeeds
 * each time.
 */
const ATTEMPTS = 200;

/** How long after its decision, in milliseconds, a charge may reach the database. A later charge is decided again. */
const IN_TIME_MS = 2_000;

/** @param onSeen called after each read for an admission or a change of usage, with the time of the storage */
export function postgresKeys(
  connections: Connections,
  onSeen: (seen: Seen) => void,
): KeyStorage & { idle(): Promise<void> } {
  const charges = new Charges(connections, onSeen);
  const admissions = new RequestBatcher((asked: readonly Asked[]) => charges.admitAll(asked));
  return {
    idle: () => admissions.idle(),
    register: async (key, { plan, limits }, { keepsKnown, origin = null, name = null }) => {
      const register = numbered(registerSql('petstock_service.keys', NOW, keepsKnown));
      const digest = Buffer.from(digestOf(key), 'hex');
      const values = [digest, plan, limits.minute, limits.day, origin, name];
      const [row] = await connections.change<KeyRow>(register, values);
      return recordOf(row as KeyRow);
    },
    revoke: async (id) => {
      const [row] = await connections.change<KeyRow>(
        `UPDATE petstock_service.keys SET revoked_at = coalesce(revoked_at, ${NOW}) WHERE ${BY_ID} RETURNING *`,
        [id],
      );
      return row === undefined ? null : recordOf(row);
    },
    keys: async () => {
      const statement = 'SELECT * FROM petstock_service.keys ORDER BY created_at, digest';
      return (await connections.read<KeyRow>(statement)).map(recordOf);
    },
    admit: (key, rules) => admissions.run({ digest: digestOf(key), rules }),
    changeUsage: async (id, change) => {
      for (let tried = 1; tried <= ATTEMPTS; tried++) {
        const { rows, now } = await charges.read(ONE, id);
        const row = rows[0];
        if (row === undefined) return null;
        const usage = change(usageOf(row), now.now);
        if ((await charges.write([{ row, usage }], now)).size > 0) return { ...recordOf(row), usage };
      }
      throw contended();
    },
  };
}

/** Returns a statement that selects keys with the time; if there is no such key, a single row without a key. */
const selectKeys = (name: string, condition: string): Prepared => ({
  name,
  text: `SELECT looked.*, ${keyColumns.map((column) => `k.${column}`).join()}, k.xmin::text AS seen
    FROM (${SELECT_SCHEMA}) AS looked LEFT JOIN petstock_service.keys AS k ON ${condition}`,
});
const VALID = selectKeys('valid keys', 'digest = ANY ($1::bytea[]) AND revoked_at IS NULL');
const ONE = selectKeys('one key', BY_ID);

/**
 * Charges keys whose rows have not changed since they were read. Locks rows in one order, so that services don't
 * deadlock.
 */
const CHARGE: Prepared = {
  name: 'charge',
  text: `WITH v AS (
      SELECT * FROM unnest($1::bytea[], $2::xid[], ${usageColumns.map((_, at) => `$${at + 4}::bigint[]`).join()})
        AS given (digest, seen, ${usageColumns.join()})
    ), locked AS MATERIALIZED (
      SELECT digest FROM petstock_service.keys WHERE digest IN (SELECT digest FROM v) ORDER BY digest FOR NO KEY UPDATE
    )
    UPDATE petstock_service.keys AS k SET ${usageColumns.map((column) => `${column} = v.${column}`).join()}
    FROM v JOIN locked ON locked.digest = v.digest WHERE k.digest = v.digest AND k.xmin = v.seen
      AND clock_timestamp() < to_timestamp($3::float8 / 1000) RETURNING k.digest`,
};

class Charges {
  constructor(
    private readonly connections: Connections,
    private readonly onSeen: (seen: Seen) => void,
  ) {}

  /**
   * Decides requests. Takes two round trips for all of them, and two more whenever another service has charged one of
   * the keys in between, or the charge has arrived too late.
   */
  async admitAll(asked: readonly Asked[]): Promise<readonly (Admission | null)[]> {
    const settled = new Map<Asked, Admission | null>();
    for (let tried = 1; tried <= ATTEMPTS; tried++) {
      const open = asked.filter((one) => !settled.has(one));
      if (open.length === 0) return asked.map((one) => settled.get(one) ?? null);
      for (const [one, admission] of await this.#attempt(open)) settled.set(one, admission);
    }
    throw contended();
  }

  /**
   * Decides all requests by the rows that were read, and writes each row that nothing else has changed since. The clock
   * is read together with the rows: a row that is written was read after the charge before it, so times and charges
   * have the same order. No lock is held between the two statements, so a service that stops there doesn't block
   * others.
   * @returns the decisions for the rows that were written, and for the requests without a valid key
   */
  async #attempt(asked: readonly Asked[]): Promise<readonly (readonly [Asked, Admission | null])[]> {
    const digests = [...new Set(asked.map(({ digest }) => digest))].map((digest) => Buffer.from(digest, 'hex'));
    const { rows, now } = await this.read(VALID, digests);
    const { decided, usages } = decideAll(asked, rows, now.now);
    const written = await this.write(usages, now);
    return asked
      .map((one, at) => [one, decided[at] ?? null] as const)
      .filter(([{ digest }, admission]) => admission === null || written.has(digest));
  }

  async read(
    statement: Prepared,
    value: unknown,
  ): Promise<{ readonly rows: readonly VersionedRow[]; readonly now: Seen }> {
    type Row = (VersionedRow | { readonly digest: null }) & SchemaRow;
    const rows = await this.connections.read<Row>(statement, [value]);
    const now = seenIn(rows[0]);
    this.onSeen(now);
    return { rows: rows.filter((row): row is VersionedRow & SchemaRow => row.digest !== null), now };
  }

  /**
   * @returns the digests of the rows that were written: none if this reaches the database too late, otherwise those
   * that had not been changed
   */
  async write(
    usages: readonly { readonly row: VersionedRow; readonly usage: Usage }[],
    { now, moved }: Seen,
  ): Promise<ReadonlySet<string>> {
    if (usages.length === 0) return new Set();
    const columns = usageColumns.map((_, at) => usages.map(({ usage }) => usageValues(usage)[at]));
    const [digests, seen] = [usages.map(({ row }) => row.digest), usages.map(({ row }) => row.seen)];
    const values = [digests, seen, now - moved + IN_TIME_MS, ...columns];
    const written = await this.connections.change<Pick<KeyRow, 'digest'>>(CHARGE, values);
    return new Set(written.map(digestIn));
  }
}

function contended(): StorageError {
  return new StorageError('Too many services are charging this key at the same time');
}
