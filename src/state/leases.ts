import type { Lease } from './decide.ts';
import type { Living } from './living-processes.ts';
import { leaseEnds } from './other-boots.ts';
import { runIdIn } from './run-ids.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { among, type Row, type Statement, text } from './statements.ts';

export const serviceByName = '(SELECT id FROM petstock.services WHERE name = ?)';

/** Selects the leases at a service, given the service's name. */
export const selectLeases = `SELECT CAST(pet_id AS TEXT) AS pet, owner, run, holder, boot, expires, lasts FROM petstock.leases WHERE service = ${serviceByName}`;

/**
 * @param rows rows of `selectLeases`
 * @returns the leases by pet id (decimal text)
 */
export function* leasesIn(
  at: TransactionContext,
  rows: readonly Row[],
  living: Living,
): TransactionSteps<ReadonlyMap<string, Lease>> {
  const endOf = yield* leaseEnds(at, rows);
  return new Map(
    rows.map((row) => {
      const [run, holder] = [text(row.run) && runIdIn(row.run), text(row.holder)];
      const isHeld = holder !== undefined && living.has(holder);
      return [String(row.pet), { owner: String(row.owner), run, holder, isHeld, inFlightUntil: endOf(row) }];
    }),
  );
}

/** The leases of one owner. The last four fields are missing before the first intent. */
export interface TakenLeases {
  readonly petIds: readonly bigint[];
  readonly serviceId: number;
  readonly owner: string;
  readonly holder: string;
  readonly run?: string;
  readonly boot?: string;
  readonly expires?: number;
  readonly lasts?: number;
}

/** Returns a statement that takes the leases of pets, even from another process. */
export function insertLeases({ petIds, serviceId, owner, holder, run, boot, expires, lasts }: TakenLeases): Statement {
  const sql = `INSERT INTO petstock.leases (service, owner, run, holder, boot, expires, lasts, pet_id)
    SELECT CAST(? AS integer), ?, ?, ?, ?, CAST(? AS double precision), CAST(? AS double precision), CAST(column1 AS bigint) FROM (VALUES ?*) AS given WHERE true
    ON CONFLICT (pet_id, service) DO UPDATE SET owner = excluded.owner, run = excluded.run, holder = excluded.holder, boot = excluded.boot,
      expires = excluded.expires, lasts = excluded.lasts`;
  const values = [serviceId, owner, run ?? null, holder, boot ?? null, expires ?? null, lasts ?? null];
  return among(
    sql,
    values,
    Array.from(new Set(petIds), (petId) => [petId]),
  );
}
