import { isSameBoot } from '../rate-limit/key-state.ts';
import type { Lease } from './decide.ts';
import { runIdIn } from './run-ids.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { among, number, type Row, type Statement, statement, text } from './statements.ts';

export interface LivingProcess {
  /** `process 7 on till-2`, for messages. */
  readonly name: string;
  /** When its lease ends unless it is renewed, if it is of another start of the machine or a container; undefined for any other process. */
  readonly endsElsewhere: number | undefined;
}

/** Processes that are alive, by their ids. */
export type Living = ReadonlyMap<string, LivingProcess>;

export const serviceByName = '(SELECT id FROM petstock.services WHERE name = ?)';

/** Selects leases at a service, given its name. */
export const selectLeases = `SELECT CAST(pet_id AS TEXT) AS pet, owner, run, holder, boot, expires, lasts FROM petstock.leases WHERE service = ${serviceByName}`;

/** @param rows of `selectLeases`. @returns the leases by the ids of their pets, in decimal */
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

/** The leases of one owner. The last four are missing before the first intent. */
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

/** How far a time lay ahead that does not say so, in milliseconds. */
const longest = 120_000;

/**
 * Reads the times in the columns `boot`, `expires` and `lasts` of some rows. A time of another start of the machine says nothing by our clock: that
 * one may be a container beside us, or over. It lasts from when a process of this start has first seen it for as long as it lay ahead when it was
 * written, and anew once it has been renewed.
 * @returns a function that gives the time of one of the rows by the clock of this start; undefined if the row has none
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
