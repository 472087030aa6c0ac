import type { Outcome } from './intents-and-outcomes.ts';
import { hasNotes, type NotesLocation, unsentBy } from './leaving-notes.ts';
import { aliveAmong } from './living-processes.ts';
import { isOlder } from './older-copy.ts';
import { countsUpdate, type RunKey, runByToken, runIn, selectRun, settleRows } from './settle-rows.ts';
import type { StateContext } from './state-context.ts';
import { selectLast, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { statement } from './statements.ts';

/**
 * Returns rows to pending that the run's process did not send before it was killed, as its notes show. Does nothing
 * while another process writes the run, or if this boot of the machine has no notes of the run (only Linux has notes).
 */
export async function returnUnsent(context: StateContext, key: RunKey): Promise<void> {
  const { database, folder, clock } = context;
  const location = { folder, token: key.token, boot: clock.boot() };
  if (!hasNotes(location)) return;
  await database.transact('durable', key.serviceName, (at) => voidUnsent(context, at, location));
}

/** Selects rows with an intent and without an outcome. */
const selectIntents = `SELECT row, result, line, after, CAST(pet_id AS TEXT) AS pet, token FROM petstock.rows
  WHERE run = ${runByToken} AND result = 'unknown' AND error IS NULL`;

function* voidUnsent(
  { presence, notes }: StateContext,
  at: TransactionContext,
  location: NotesLocation,
): TransactionSteps<void> {
  const [[head] = [], rows = [], [meta] = []] = yield [
    statement(selectRun, location.token),
    statement(selectIntents, location.token),
    selectLast,
  ];
  // The notes don't apply to an older copy.
  if (yield* isOlder(meta, notes)) return;
  const living = yield* aliveAmong(presence, at, head === undefined ? [] : [head]);
  if (head === undefined || (head.holder !== presence.id && living.has(String(head.holder)))) return;
  const isUnsent = unsentBy(location);
  const outcomes = rows.flatMap(({ row, pet, token }): Outcome[] => {
    const isBack = isUnsent?.(Number(row), String(token)) === true;
    return isBack ? [{ row: Number(row), petId: BigInt(String(pet)), result: 'void' }] : [];
  });
  const run = runIn(head);
  const moves = yield* settleRows(at, run, outcomes, rows, undefined);
  if (moves.length > 0) at.writes.push(countsUpdate(run.id, moves));
}
