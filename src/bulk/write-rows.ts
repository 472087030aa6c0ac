import type { Client } from '../api/client.ts';
import type { Clock } from '../context.ts';
import { PetstockError } from '../errors.ts';
import { longestRetryWait, waitBeforeRetry } from '../governor/backoff.ts';
import type { Claims, Mark } from '../history/claims.ts';
import type { Journal } from '../history/journal.ts';
import type { RowError } from '../inventory/change.ts';
import { createRound, type Round } from './round.ts';

/** One write of a run. */
export interface RowWrite {
  /** Its number in the journal. */
  readonly row: number;
  readonly petId: bigint;
  /** The stock as it was read. */
  readonly before: number;
  readonly after: number;
}

export interface Settlement {
  readonly result: 'applied' | 'failed' | 'conflict';
  readonly error?: RowError | undefined;
}

export interface WriteOptions {
  readonly client: Pick<Client, 'updateInventory'>;
  readonly journal: Pick<Journal, 'intent' | 'outcome'>;
  readonly claims: Pick<Claims, 'claimAll' | 'done' | 'withdraw'>;
  /** Taken before the stock of the rows was read. */
  readonly mark: Mark;
  /** Reads the stock of these pets once more. */
  readStock(petIds: ReadonlySet<bigint>): Promise<ReadonlyMap<bigint, number>>;
  readonly clock: Clock;
  random(): number;
  /** Requests in flight at once. */
  readonly concurrency: number;
  /** Begin no row after one that failed. */
  readonly failFast: boolean;
  readonly interrupted: AbortSignal;
  /** Told after each row that is settled. */
  onSettled(settlement: Settlement): void;
}

/** What has become of the rows so far, by their number. */
export interface Progression {
  readonly settled: Map<number, Settlement>;
  /** Rows of which nobody knows whether they were carried out, with what went wrong. */
  readonly open: Map<number, RowError>;
  /** The first failure of a row, for the exit code. */
  firstFailure: PetstockError | undefined;
  /** Why it ended before all rows were settled, where a failure ended it. */
  stoppedBy: unknown;
}

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
