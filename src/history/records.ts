import type { RowError } from '../inventory/change.ts';

/** What one run of a command is about; the first record of its file. */
export interface RunHead {
  /** `inventory set`, `inventory adjust`, `inventory apply`, `undo` */
  readonly command: string;
  readonly env: string;
  /** Where the requests went. The sandbox has another one with every start. */
  readonly baseUrl: string;
  /** A hash that tells keys apart; never the key. */
  readonly key: string;
  readonly user: string | undefined;
  /** The name of the file that was applied, as it was given; `-` is stdin. */
  readonly file?: string | undefined;
  /** The run that this one takes back. */
  readonly undoes?: string | undefined;
}

/** One change of stock that a run is about to make. */
export interface JournalChange {
  /** Counts from 1 within the run. */
  readonly row: number;
  /** The line of the file that it came from; 1 for a single write; for an undo the row of the run that is undone. */
  readonly line: number;
  readonly petId: bigint;
  /** The stock that was read before, where it was. */
  readonly before: number | undefined;
  readonly after: number;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** What became of a change. One with an intent and no outcome, as after a crash, is unknown. */
export interface Outcome {
  readonly row: number;
  /**
   * - `unchanged`: when it came to it, the stock was what was wanted already; nothing was sent
   * - `unknown`: it was sent, and nobody can tell whether it was carried out, until somebody looks
   * - `void`: for certain it was not carried out, and it may be sent (again): it never left, or met a 401 or 429
   */
  readonly result: 'applied' | 'unchanged' | 'failed' | 'conflict' | 'unknown' | 'void';
  /** The stock that the service answered, or that was found when somebody looked. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
}

/**
 * Where a recorded change stands:
 *
 * - `pending`: it was not carried out: never sent, or its last outcome is `void`
 * - `open`: it was sent, and whether it was carried out is not known
 * - `applied`, `unchanged`, `failed`, `conflict`: it is settled
 */
export type RecordedState = 'pending' | 'open' | 'applied' | 'unchanged' | 'failed' | 'conflict';

export interface RecordedRow extends JournalChange {
  readonly state: RecordedState;
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
}

/** A run as its file tells it. */
export interface RecordedRun extends RunHead {
  /** `20260115T120020Z-k3x9` */
  readonly run: string;
  /** When it began: ISO 8601, UTC. */
  readonly at: string;
  /** All of its changes are on disk. Without that nothing was sent. */
  readonly planned: boolean;
  /** Rows that needed no change when the run was planned. */
  readonly unchanged: number;
  /** In the order of the plan. */
  readonly rows: readonly RecordedRow[];
}
