import type { RowError } from '../inventory/change.ts';
import type { PlannedRow, RecordedResult, RunHead } from '../inventory/run-records.ts';
import type { Lock, Moment } from './state-store.ts';
import type { Statement } from './statements.ts';

/** `sent`: the request may be on its way, and its process has recorded no more. Others see such a row as `unknown`. */
export type Result = RecordedResult | 'sent';

/** A row of a run. The process that writes the run changes it together with the store. */
export interface Row extends Omit<PlannedRow, 'outcome'> {
  before: number | undefined;
  after: number;
  result: Result;
  /** The number of its last intent, in the order of all intents to its service. */
  intent: number | undefined;
  /**
   * When none of its requests can be under way any more, by the store's clock; undefined if none can be now. A row can
   * be `applied` while an earlier request of it is still under way.
   */
  inFlightUntil: number | undefined;
  /** The stock that was found or written. */
  quantity: number | undefined;
  error: RowError | undefined;
}

/** A run that this process writes: it has the run's lock. */
export interface OpenRun extends RunHead {
  readonly run: string;
  /** The last intent before the run began; 0 until the run is recorded. */
  began: number;
  readonly rows: readonly Row[];
  /** Whether an earlier process has written it. */
  readonly isResumed: boolean;
  lock: Lock;
  /**
   * Set while the run is not recorded: the first transaction of the run writes these statements before all others. When
   * it has committed, set this to undefined.
   */
  beginning: ((moment: Moment) => readonly Statement[]) | undefined;
}

export function isOpen({ result }: Pick<Row, 'result'>): boolean {
  return result === 'pending' || result === 'sent' || result === 'unknown';
}

/** A write of another run to a pet. */
export interface OtherWrite {
  readonly petId: bigint;
  readonly run: string;
  readonly command: string;
  readonly intent: number;
  /** `unknown` for a row that is `sent`, too. */
  readonly result: 'applied' | 'differs' | 'unknown';
  /** The stock that was written, or for `unknown`, that may have been written. */
  readonly quantity: number;
  /** The stock that the write had read; undefined if it had read none. */
  readonly before: number | undefined;
  readonly delta: number | undefined;
  readonly inFlightUntil: number | undefined;
  readonly isSettled: boolean;
  /** Its place in its run, and the run and the row that it has undone. */
  readonly row: number;
  readonly undoes: string | undefined;
  readonly line: number;
}

/** The last write to a pet that was answered, of any run. */
export interface LastWrite {
  readonly petId: bigint;
  readonly before: number | undefined;
  readonly quantity: number;
  /** When its answer was recorded, by the store's clock. */
  readonly at: number;
}
