import type { RowError } from '../inventory/change.ts';

/** What a list of runs tells of one; a summary of the history has all of it. */
export interface RunFacts {
  readonly run: string;
  /** When it began: ISO 8601, UTC. */
  readonly at: string;
  readonly env: string;
  readonly command: string;
  readonly user?: string | undefined;
  readonly file?: string | undefined;
  readonly undoes?: string | undefined;
  /** The runs that took back rows of it. */
  readonly undoneBy: readonly string[];
  /** How many rows of it they have taken back. */
  readonly undone: number;
  /** How many rows it was to change. */
  readonly changes: number;
  readonly counts: {
    readonly applied: number;
    readonly failed: number;
    readonly conflict: number;
    readonly open: number;
    readonly pending: number;
  };
  /** Without that nothing of it was sent. */
  readonly planned: boolean;
  readonly state: 'done' | 'incomplete' | 'running';
}

/** A row of a recorded run. */
export interface RunRowFacts {
  readonly row: number;
  readonly line: number;
  readonly petId: bigint;
  readonly before: number | undefined;
  readonly after: number;
  readonly state: string;
  /** The stock that the service answered, or that was found. */
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** A recorded run with its rows. */
export interface RecordedRunFacts extends Omit<RunFacts, 'changes' | 'counts' | 'planned' | 'state'> {
  readonly baseUrl: string;
  readonly rows: readonly RunRowFacts[];
}
