import type { RecentWrite } from '../inventory/run-records.ts';
import { serviceByName } from './leases.ts';
import { isOutdatedSql, stockIn } from './pet-writes.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { among, number, type Row, type Statement, statement } from './statements.ts';
import { possibleResults } from './tables.ts';

/** How long a write may take to appear on all replicas of a service, in milliseconds. */
export const recentFor = 15_000;

/** Maximum number of rows per query. */
const page = 500;
/** Once this many rows were read, reading ends with the first page whose last row is of another boot. */
const maxOtherBootRows = 10_000;

/** The sequence number up to which this boot has known the writes of other boots for longer than `recentFor`. */
const longKnown = `coalesce((SELECT max(seen.expires) FROM petstock.sightings AS seen
  WHERE seen.boot = ? AND seen.of_boot = '' AND seen.ends <= ?), 0)`;

/**
 * Decides whether a write is recent, by this boot's monotonic clock, which can't be set. A write of another boot is
 * recent until this boot has known it for `recentFor`. A write of another boot of this host came before this boot, so
 * it is not recent once this boot is older than `recentFor`.
 */
const isRecent = `CASE WHEN boot = ? THEN expires + CASE result WHEN 'unknown' THEN ${recentFor} ELSE 0 END > ?
  ELSE touched > ${longKnown} AND NOT EXISTS (SELECT 1 FROM petstock.runs WHERE runs.id = rows.run AND runs.host = ?) END`;

function valuesOf({ boot, now }: TransactionContext, host: string) {
  return [boot, now, boot, now, now > recentFor ? host : null];
}

/**
 * The stock before a write. A plain `set` reads no stock, so the stock before it is what the previous write left. A
 * lagging replica may still return that stock, however old it is.
 */
const before = `CASE WHEN before IS NULL AND delta IS NULL AND result IN ('applied', 'differs') THEN
  (SELECT coalesce(earlier.quantity, earlier.after) FROM petstock.rows AS earlier
   WHERE earlier.pet_id = rows.pet_id AND earlier.service = rows.service AND earlier.touched < rows.touched
   AND earlier.result IN ('applied', 'differs') ORDER BY earlier.touched DESC LIMIT 1)
  ELSE before END`;

const columns = `CAST(pet_id AS TEXT) AS pet, result, ${before} AS before, after, quantity, touched, boot`;

export function recentOfPets(
  at: TransactionContext,
  service: string,
  petIds: readonly bigint[],
  host: string,
): Statement {
  const sql = `SELECT ${columns} FROM petstock.rows WHERE service = ${serviceByName} AND ${isRecent} AND result IN (${possibleResults})
    AND NOT ${isOutdatedSql} AND pet_id IN ?*`;
  return among(sql, [service, ...valuesOf(at, host)], petIds);
}

/** Rows of removed runs have a negative number instead of the number of their run. */
const ofRemoved = 'run < 0';

/** Selects writes before a recent write that read no stock: each shows the stock before the recent write. */
const precedesRecent = `EXISTS (SELECT 1 FROM petstock.rows AS later WHERE later.pet_id = rows.pet_id AND later.service = rows.service
  AND later.touched > rows.touched AND later.before IS NULL AND later.boot = ? AND later.expires > ?)`;

/**
 * Returns statements that keep some writes of a run that is about to be removed: those by which a lagging replica is
 * recognized, without their reason, ref and error. The statements also remove kept writes that are no longer needed.
 */
export function keepRecent(at: TransactionContext, run: number, host: string): Statement[] {
  const isNeeded = `(${isRecent} OR ${precedesRecent})`;
  const values = [...valuesOf(at, host), at.boot, at.now];
  const keep = `UPDATE petstock.rows SET run = -touched, reason = NULL, ref = NULL, error = NULL
    WHERE run = ? AND ${isNeeded} AND result IN ('applied', 'differs')`;
  return [
    statement(`DELETE FROM petstock.rows WHERE ${ofRemoved} AND NOT ${isNeeded}`, ...values),
    statement(keep, run, ...values),
  ];
}

/**
 * Returns the recent writes at a service, the oldest first. Leaves out some of other boots if there are very many.
 */
export function* recentOfService(
  at: TransactionContext,
  service: string,
  host: string,
): TransactionSteps<RecentWrite[]> {
  const given = [...valuesOf(at, host), service];
  const selectRows = `SELECT ${columns}, CASE WHEN ${isRecent} THEN 1 ELSE 0 END AS is_recent FROM petstock.rows`;
  const ofService = `service = ${serviceByName}`;
  const [unknown = []] = yield [statement(`${selectRows} WHERE result = 'unknown' AND ${ofService}`, ...given)];
  // The first condition allows the use of the index `rows_by_change`.
  const settledSql = `${selectRows} WHERE result NOT IN ('pending', 'unknown') AND ${ofService} AND touched < ?
    AND result IN ('applied', 'differs') AND NOT ${isOutdatedSql} ORDER BY touched DESC LIMIT ${page}`;
  const found = unknown.filter(({ is_recent }) => Number(is_recent) === 1);
  for (let last: Row | undefined; ; ) {
    const [rows = []] = yield [statement(settledSql, ...given, Number(last?.touched ?? Number.MAX_SAFE_INTEGER))];
    // Rows come newest first, so all rows after an old one are old, too.
    const older = rows.findIndex(({ is_recent }) => Number(is_recent) === 0);
    found.push(...(older < 0 ? rows : rows.slice(0, older)));
    last = rows.at(-1);
    const isEnough = last?.boot !== at.boot && found.length >= maxOtherBootRows;
    if (older >= 0 || rows.length < page || isEnough) return recentWritesIn(at, found);
  }
}

/**
 * Converts selected rows to writes, the oldest first. Notes that this boot now knows the writes of other boots among
 * them.
 */
export function recentWritesIn(at: TransactionContext, rows: readonly Row[]): RecentWrite[] {
  const others = rows.filter(({ boot }) => boot !== at.boot).map(({ touched }) => Number(touched));
  if (others.length > 0) at.writes.push(noteKnown(at, Math.max(...others)));
  const writes = rows.map((row) => ({
    petId: BigInt(String(row.pet)),
    ...stockIn(row),
    sequence: number(row.touched) ?? 0,
  }));
  return writes.sort((a, b) => a.sequence - b.sequence);
}

function noteKnown({ boot, now, wall }: TransactionContext, upTo: number): Statement {
  return statement(
    `INSERT INTO petstock.sightings (boot, of_boot, expires, ends, at) SELECT ?, '', last, ?, ? FROM petstock.sequence
     WHERE NOT EXISTS (SELECT 1 FROM petstock.sightings WHERE boot = ? AND of_boot = '' AND expires >= ?)
     ON CONFLICT (boot, of_boot, expires) DO NOTHING`,
    ...[boot, now + recentFor, Math.round(wall), boot, upTo],
  );
}
