import type { Lease } from './decide.ts';
import type { Living } from './processes-present.ts';
import { among, type Row, type Statement } from './statements.ts';
import type { Moment, Work } from './store.ts';
import { text } from './stored-values.ts';
import { endsOf } from './times.ts';

export const serviceByName = '(SELECT id FROM petstock.services WHERE name = ?)';

/** Selects leases at a service, given its name. */
export const selectLeases = `SELECT CAST(pet_id AS TEXT) AS pet, owner, run, holder, boot, expires, lasts FROM petstock.leases WHERE service = ${serviceByName}`;

/** @param rows of `selectLeases`. @returns the leases by the ids of their pets, in decimal */
export function* leasesIn(at: Moment, rows: readonly Row[], living: Living): Work<ReadonlyMap<string, Lease>> {
  const endOf = yield* endsOf(at, rows);
  return new Map(
    rows.map((row) => {
      const [run, holder] = [text(row.run), text(row.holder)];
      const isHeld = holder !== undefined && living.has(holder);
      return [String(row.pet), { owner: String(row.owner), run, holder, isHeld, arrives: endOf(row) }];
    }),
  );
}

/** Its last four are missing before the first intent. */
export interface TakenLease {
  readonly petId: bigint;
  readonly service: number;
  readonly owner: string;
  readonly holder: string;
  readonly run?: string;
  readonly boot?: string;
  readonly expires?: number;
  readonly lasts?: number;
}

/** The leases of pets, even from another process. */
export function takingLeases(leases: readonly TakenLease[]): Statement {
  const byPet = new Map(leases.map((lease) => [lease.petId, lease]));
  const list = [...byPet.values()].map(({ petId, service, owner, holder, run = null, boot = null, ...end }) => {
    return [petId, service, owner, run, holder, boot, end.expires ?? null, end.lasts ?? null];
  });
  const sql = `INSERT INTO petstock.leases (pet_id, service, owner, run, holder, boot, expires, lasts) VALUES ?*
    ON CONFLICT (pet_id, service) DO UPDATE SET owner = excluded.owner, run = excluded.run, holder = excluded.holder, boot = excluded.boot,
      expires = excluded.expires, lasts = excluded.lasts`;
  return among(sql, [], list);
}
