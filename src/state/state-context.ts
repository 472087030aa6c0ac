import type { RunRecord } from '../inventory/run-records.ts';
import type { Clock } from '../shared/clock.ts';
import type { KnownRows } from './intents-and-outcomes.ts';
import type { Presence } from './presence.ts';
import type { RunKey } from './settle-rows.ts';
import type { StateDatabase } from './state-database.ts';
import type { StateNotes } from './state-notes.ts';

export interface CurrentHistory {
  recover(run: RunKey, known: KnownRows): Promise<void>;
  run(run: string): Promise<RunRecord>;
}

export interface StateContext {
  readonly database: StateDatabase;
  readonly presence: Presence;
  /** The state folder of this machine, for files that stay on it even with a shared state. */
  readonly folder: string | undefined;
  readonly notes: StateNotes;
  /** Uses the history of the state that has replaced this local state; returns undefined if there is none. */
  readonly elsewhere:
    | (<Result>(use: (current: CurrentHistory) => Promise<Result>) => Promise<Result | undefined>)
    | undefined;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  random(): number;
  /** Cancels waiting for other processes. */
  readonly interrupted: AbortSignal | undefined;
  /** Prints a line on stderr. */
  warn(line: string): void;
}
