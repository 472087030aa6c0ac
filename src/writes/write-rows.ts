import { longestRetryWait, waitBeforeRetry } from '../rate-limit/backoff.ts';
import { PetstockError } from '../shared/errors.ts';
import { createRound, type Round } from './round.ts';
import type { Progression, RowWrite, WriteOptions } from './row-write.ts';

/** After so many rounds in a row in which not one row was settled, the service is taken for down. */
const maxFruitlessRounds = 3;

/**
 * Writes rows in rounds. A round sends each row once, some at a time, its intent on disk before it leaves. A row whose
 * outcome nobody knows (a time-out, a reset, a 5xx, half an answer) is never guessed, and not sent again blindly: after
 * the round the stock is read, and the row is confirmed, goes into the next round, or is a conflict.
 *
 * Throws nothing: `stoppedBy` says what went wrong, and the rows say where they stand.
 */
export async function writeRows(rows: readonly RowWrite[], options: WriteOptions): Promise<Progression> {
  const progression: Progression = {
    settled: new Map(),
    open: new Map(),
    firstFailure: undefined,
    stoppedBy: undefined,
  };
  const round = createRound(options, progression);
  try {
    await writeInRounds(rows, round, options, progression);
  } catch (error) {
    round.stop(error);
  } finally {
    round.close();
  }
  return progression;
}

async function writeInRounds(
  rows: readonly RowWrite[],
  round: Round,
  { clock, random, interrupted, readStock }: WriteOptions,
  { settled, open }: Progression,
): Promise<void> {
  let fruitless = 0;
  let queue = rows;
  for (;;) {
    const settledBefore = settled.size;
    await round.send(queue);
    const left = queue.filter(({ row }) => !settled.has(row));
    if (left.length === 0 || round.ended) return;
    fruitless = settled.size > settledBefore ? 0 : fruitless + 1;
    const pause = waitBeforeRetry(fruitless + 1, askedWait(round.lastFault), random());
    if (fruitless >= maxFruitlessRounds || pause > longestRetryWait) throw round.lastFault;
    await clock.sleep(pause, interrupted);
    const unsure = new Set(left.filter(({ row }) => open.has(row)).map(({ petId }) => petId));
    const stock = unsure.size === 0 ? new Map<bigint, number>() : await readStock(unsure);
    queue = left.filter((row) => !open.has(row.row) || round.confirm(row, stock.get(row.petId)) === 'send again');
  }
}

/** @returns milliseconds */
function askedWait(fault: unknown): number | undefined {
  if (!(fault instanceof PetstockError) || fault.retryAfterSeconds === undefined) return undefined;
  return fault.retryAfterSeconds * 1000;
}
