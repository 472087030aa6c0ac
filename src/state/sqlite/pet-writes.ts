import type { PetWrite, RecentWrite, RowPosition, RunOfService } from '../history.ts';
import { type WrittenRow, withoutUndone } from '../written-rows.ts';
import type { Connection } from './connection.ts';
import { findService } from './leases.ts';

const possibleWrites = "('applied', 'differs', 'unknown')";

/** What other runs have written of a pet after a row, the oldest first. See `History.writesAfter`. */
export function writesAfter(connection: Connection, position: RunOfService & RowPosition): PetWrite[] {
  const { petId, sequence } = position;
  const service = findService(connection, position.service);
  if (service === undefined) return [];
  // CROSS: the pet is looked up first. Otherwise SQLite reads all rows of the run, for each of them.
  const own = connection.get(
    `SELECT rows.result FROM rows CROSS JOIN runs ON runs.id = rows.run
     WHERE rows.pet_id = ? AND rows.service = ? AND runs.run = ? AND rows.sequence = ?`,
    petId,
    service,
    position.run,
    sequence,
  );
  const rows = connection.all(
    `SELECT runs.run, runs.command, runs.undoes, rows.row, rows.line, rows.result, rows.quantity, rows.before, rows.after, rows.sequence
     FROM rows JOIN runs ON runs.id = rows.run
     WHERE rows.pet_id = ? AND rows.service = ? AND rows.touched > ? AND runs.run <> ?
       AND rows.result IN ${possibleWrites} ORDER BY rows.sequence`,
    petId,
    service,
    sequence,
    position.run,
  );
  // A row that was sent had the lease, so what was sent before it came before it, whenever its outcome was found. One that
  // was only planned had none: a write that was on its way then may have come after its stock was read.
  const wasSent = own !== undefined && own.result !== 'pending' && own.result !== 'conflict';
  const later = wasSent ? rows.filter((row) => Number(row.sequence) > sequence) : rows;
  return withoutUndone(later as readonly unknown[] as readonly WrittenRow[]);
}

/** The stock that was last read or written of a pet. See `History.lastKnownQuantities`. */
export function lastKnownQuantity(
  connection: Connection,
  service: string,
  petId: bigint,
  before = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const number = findService(connection, service);
  if (number === undefined) return undefined;
  // Written before, and looked at only since: it is not known what came between.
  const settledLater = connection.get(
    `SELECT 1 FROM rows WHERE pet_id = ? AND service = ? AND touched >= ? AND sequence < ? AND result IN ${possibleWrites}`,
    petId,
    number,
    before,
    before,
  );
  const last = connection.get(
    `SELECT result, before, after, quantity FROM rows WHERE pet_id = ? AND service = ? AND touched < ?
       AND (result IN ${possibleWrites} OR result = 'unchanged' OR quantity IS NOT NULL OR before IS NOT NULL)
     ORDER BY touched DESC LIMIT 1`,
    petId,
    number,
    before,
  );
  if (settledLater !== undefined || last === undefined || last.result === 'unknown') return undefined;
  const written = last.result === 'applied' || last.result === 'unchanged' ? last.after : null;
  return (last.quantity ?? written ?? last.before ?? undefined) as number | undefined;
}

/** The writes since a moment, the oldest first. See `History.recentWrites`. */
export function recentWrites(
  connection: Connection,
  service: string,
  since: number,
  petIds?: readonly bigint[],
): RecentWrite[] {
  const number = findService(connection, service);
  if (number === undefined) return [];
  const writes: RecentWrite[] = [];
  const page = 500;
  const among = petIds === undefined ? '' : `AND pet_id IN (${petIds.map(() => '?').join()})`;
  for (let last = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = connection.all(
      `SELECT CAST(pet_id AS TEXT) AS pet, result, before, after, quantity, at, touched FROM rows
       WHERE service = ? AND touched < ? AND result IN ${possibleWrites} ${among} ORDER BY touched DESC LIMIT ${page}`,
      number,
      last,
      ...(petIds ?? []),
    );
    for (const { pet, result, before, after, quantity, at, touched } of rows) {
      if (Number(at ?? 0) < since) return writes.toReversed();
      const written = Number(result === 'unknown' ? after : (quantity ?? after));
      writes.push({
        petId: BigInt(String(pet)),
        result: result as RecentWrite['result'],
        before: before === null ? undefined : Number(before),
        quantity: written,
        sequence: Number(touched),
      });
    }
    if (rows.length < page) return writes.toReversed();
    last = Number(rows.at(-1)?.touched);
  }
}
