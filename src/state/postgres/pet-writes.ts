import type { PetWrite, RowPosition, RunOfService } from '../history.ts';
import { type WrittenRow, withoutUndone } from '../written-rows.ts';
import type { PostgresConnection } from './connection.ts';

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
         rows.after::float8, rows.sequence
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

/** The stock that was last read or written of a pet. See `History.lastKnownQuantity`. */
export async function lastKnownQuantity(
  connection: PostgresConnection,
  service: string,
  petId: bigint,
  before = Number.MAX_SAFE_INTEGER,
): Promise<number | undefined> {
  // Written before, and looked at only since: it is not known what came between.
  const [last] = await connection.read(
    `SELECT rows.result, rows.before::float8, rows.after::float8, rows.quantity::float8, EXISTS (
         SELECT 1 FROM petstock.rows AS later WHERE later.pet_id = $1 AND later.service = rows.service AND later.touched >= $3
           AND later.sequence < $3 AND later.result IN ${possibleWrites}) AS settled_later
     FROM petstock.rows JOIN petstock.services ON services.id = rows.service
     WHERE rows.pet_id = $1 AND services.name = $2 AND rows.touched < $3
       AND (rows.result IN ${possibleWrites} OR rows.result = 'unchanged' OR rows.quantity IS NOT NULL OR rows.before IS NOT NULL)
     ORDER BY rows.touched DESC LIMIT 1`,
    petId,
    service,
    before,
  );
  if (last === undefined || last.settled_later === true || last.result === 'unknown') return undefined;
  const written = last.result === 'applied' || last.result === 'unchanged' ? last.after : null;
  return (last.quantity ?? written ?? last.before ?? undefined) as number | undefined;
}
