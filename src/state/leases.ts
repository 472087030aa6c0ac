import { isSameBoot } from '../rate-limit/key-state.ts';
import type { Lease } from './decide.ts';
import { runIdIn } from './run-ids.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { among, number, type Row, type Statement, statement, text } from './statements.ts';

export interface LivingProcess {
  /** Shown in messages: `process 7 on till-2`. */
  readonly name: string;
  /**
   * When the lease ends unless it is renewed, for a process of another boot or container; undefined for any other
   * process.
   */
  readonly endsElsewhere: number | undefined;
}

/** The processes that are alive, by id. */
export type Living = ReadonlyMap<string, LivingProcess>;

export const serviceByName = '(SELECT id FROM petstock.services WHERE name = ?)';

/** Selects the leases at a service, which is given by name. */
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

/** Takes the leases of pets, even from another process. */
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

/** How far ahead a time is assumed to lie if its row does not say, in milliseconds. */
const longest = 120_000;

/**
 * Reads the times in the columns `boot`, `expires` and `lasts` of some rows. A time of another boot can't be compared
 * with this clock: that boot may be a container on this machine, or over. Such a time ends `lasts` milliseconds after a
 * process of this boot first saw it, and counts anew after each renewal.
 * @returns a function that returns the time of a row by the clock of this boot; undefined if the row has none
 */
export function* leaseEnds(
  at: TransactionContext,
  rows: readonly Row[],
): TransactionSteps<(row: Row) => number | undefined> {
  const isForeign = ({ boot, expires }: Row) => number(expires) !== undefined && !isSameBoot(text(boot) ?? '', at.boot);
  const foreign = [...new Map(rows.filter(isForeign).map((row) => [keyOf(row), row])).values()];
  const answers = yield foreign.map((row) => sightingOf(at, row));
  const known = new Map<string, number>();
  for (const [index, row] of foreign.entries()) {
    const seen = number(answers[index]?.[0]?.ends);
    const end = seen ?? at.now + (number(row.lasts) ?? longest);
    known.set(keyOf(row), end);
    if (seen === undefined) at.writes.push(sighted(at, row, end));
  }
  return (row) => known.get(keyOf(row)) ?? number(row.expires);
}

const keyOf = ({ boot, expires }: Row) => `${expires} ${boot}`;

function sightingOf(at: TransactionContext, { boot, expires }: Row): Statement {
  const sql = 'SELECT ends FROM petstock.sightings WHERE boot = ? AND of_boot = ? AND expires = ?';
  return statement(sql, at.boot, text(boot) ?? '', number(expires) ?? 0);
}

function sighted(at: TransactionContext, { boot, expires }: Row, end: number): Statement {
  return statement(
    `INSERT INTO petstock.sightings (boot, of_boot, expires, ends, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (boot, of_boot, expires) DO NOTHING`,
    ...[at.boot, text(boot) ?? '', number(expires) ?? 0, end, Math.round(at.wall)],
  );
}
