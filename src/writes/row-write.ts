import type { Client } from '../api/client.ts';
import type { Claims, Mark } from '../history/claims/claims.ts';
import type { Journal } from '../history/journal.ts';
import type { RowError } from '../inventory/change.ts';
import type { Clock } from '../shared/clock.ts';
import type { PetstockError } from '../shared/errors.ts';

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
