import type { PetBefore, PetWrite, RecentWrite, RowPosition, RunOfService } from '../history.ts';
import { type WrittenRow, withoutUndone } from '../written-rows.ts';
import type { PostgresConnection } from './connection.ts';
import type { Row } from './wire.ts';

const possibleWrites = "('applied', 'differs', 'unknown')";

/** What other runs have written of the pets of some rows after them, the oldest first. See `History.writesAfter`. */
export async function writesAfter(
  connection: PostgresConnection,
  { service, run }: RunOfService,
  rows: readonly RowPosition[],
): Promise<PetWrite[][]> {
  // A row that was sent had the lease, so what was sent before it came before it, whenever its outcome was found. One that
  // was only planned had none: a write that was on its way then may have come after its stock was read.
  const later = await connection.read(
    `WITH asked AS (
       SELECT * FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS asked (pet_id, sequence, number)
     ), of_service AS (SELECT id FROM petstock.services WHERE name = $1)
     SELECT asked.number::integer, found.* FROM asked CROSS JOIN LATERAL (
       SELECT runs.run, runs.command, runs.undoes, rows.row, rows.line, rows.result, rows.quantity::float8,
         rows.before::float8, rows.after::float8, rows.sequence
       FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run
       WHERE rows.pet_id = asked.pet_id AND rows.service = (SELECT id FROM of_service) AND rows.touched > asked.sequence
         AND runs.run <> $2 AND rows.result IN ${possibleWrites}
         AND (rows.sequence > asked.sequence OR NOT EXISTS (
           SELECT 1 FROM petstock.rows AS own WHERE own.pet_id = asked.pet_id AND own.service = rows.service
             AND own.run = (SELECT id FROM petstock.runs WHERE run = $2) AND own.sequence = asked.sequence
             AND own.result NOT IN ('pending', 'conflict')))
     ) AS found ORDER BY asked.number, found.sequence`,
    service,
    run,
    rows.map(({ petId }) => String(petId)),
    rows.map(({ sequence }) => sequence),
  );
  const ofRows = rows.map((): WrittenRow[] => []);
  for (const row of later) ofRows[Number(row.number) - 1]?.push(row as unknown as WrittenRow);
  return ofRows.map((written) => withoutUndone(written));
}

/** The stock that was last read or written of some pets. See `History.lastKnownQuantities`. */
export async function lastKnownQuantities(
  connection: PostgresConnection,
  service: string,
  pets: readonly PetBefore[],
): Promise<(number | undefined)[]> {
  // Written before, and looked at only since: it is not known what came between.
  const found = await connection.read(
    `WITH asked AS (
       SELECT * FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (pet_id, before, number)
     ), of_service AS (SELECT id FROM petstock.services WHERE name = $1)
     SELECT asked.number::integer, last.* FROM asked CROSS JOIN LATERAL (
       SELECT rows.result, rows.before::float8, rows.after::float8, rows.quantity::float8, EXISTS (
           SELECT 1 FROM petstock.rows AS later WHERE later.pet_id = asked.pet_id AND later.service = rows.service
             AND later.touched >= asked.before AND later.sequence < asked.before AND later.result IN ${possibleWrites}
         ) AS settled_later
       FROM petstock.rows
       WHERE rows.pet_id = asked.pet_id AND rows.service = (SELECT id FROM of_service) AND rows.touched < asked.before
         AND (rows.result IN ${possibleWrites} OR rows.result = 'unchanged' OR rows.quantity IS NOT NULL OR rows.before IS NOT NULL)
       ORDER BY rows.touched DESC LIMIT 1
     ) AS last`,
    service,
    pets.map(({ petId }) => String(petId)),
    pets.map(({ before = Number.MAX_SAFE_INTEGER }) => before),
  );
  const ofPets = new Map(found.map((last) => [Number(last.number), quantityIn(last)]));
  return pets.map((_pet, index) => ofPets.get(index + 1));
}

function quantityIn({ result, settled_later, before, after, quantity }: Row): number | undefined {
  if (settled_later === true || result === 'unknown') return undefined;
  const written = result === 'applied' || result === 'unchanged' ? after : null;
  return (quantity ?? written ?? before ?? undefined) as number | undefined;
}

/** The writes since a moment, the oldest first. See `History.recentWrites`. @param since by the clock of the database */
export async function recentWrites(
  connection: PostgresConnection,
  service: string,
  since: number,
  petIds?: readonly bigint[],
): Promise<RecentWrite[]> {
  const rows = await connection.read(
    `SELECT pet_id::text AS pet, result, before::float8, after::float8, quantity::float8, touched::float8 FROM petstock.rows
     WHERE service = (SELECT id FROM petstock.services WHERE name = $1) AND result IN ${possibleWrites} AND at >= $2
       AND ($3::bigint[] IS NULL OR pet_id = ANY ($3)) ORDER BY touched`,
    service,
    since,
    petIds?.map(String) ?? null,
  );
  return rows.map(({ pet, result, before, after, quantity, touched }) => ({
    petId: BigInt(String(pet)),
    result: result as RecentWrite['result'],
    before: before === null ? undefined : Number(before),
    quantity: Number(result === 'unknown' ? after : (quantity ?? after)),
    sequence: Number(touched),
  }));
}
