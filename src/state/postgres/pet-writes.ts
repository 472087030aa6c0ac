import type { PetWrite, RowPosition } from '../history.ts';
import { type WrittenRow, withoutUndone } from '../written-rows.ts';
import type { PostgresConnection } from './connection.ts';

const possibleWrites = "('applied', 'differs', 'unknown')";

/** What other runs have written of a pet after a row, the oldest first. See `History.writesAfter`. */
export async function writesAfter(connection: PostgresConnection, position: RowPosition): Promise<PetWrite[]> {
  const { service, petId, run, sequence } = position;
  // A row that was sent had the lease, so what was sent before it came before it, whenever its outcome was found. One that
  // was only planned had none: a write that was on its way then may have come after its stock was read.
  const later = await connection.read(
    `WITH pet AS (
       SELECT rows.*, runs.run AS name, runs.command, runs.undoes FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run
       WHERE rows.pet_id = $1 AND rows.service = (SELECT id FROM petstock.services WHERE name = $2)
     ), sent AS (
       SELECT 1 FROM pet WHERE name = $3 AND sequence = $4 AND result NOT IN ('pending', 'conflict')
     )
     SELECT name AS run, command, undoes, row, line, result, quantity::float8, after::float8 FROM pet
     WHERE touched > $4 AND name <> $3 AND result IN ${possibleWrites}
       AND (sequence > $4 OR NOT EXISTS (SELECT 1 FROM sent)) ORDER BY sequence`,
    petId,
    service,
    run,
    sequence,
  );
  return withoutUndone(later as readonly unknown[] as readonly WrittenRow[]);
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
