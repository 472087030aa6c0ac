import type { Clock } from '../shared/clock.ts';
import type { BegunContents } from './begun-contents.ts';
import type { HighestNumber } from './highest-number.ts';
import type { KnownRow } from './history.ts';
import type { Presence } from './presence.ts';
import type { StateDatabase } from './state-database.ts';

/** The part of a newly opened state that takes over what a process knows of its run. */
export interface ReopenedState {
  readonly history: {
    recover(
      run: { readonly token: string; readonly serviceName: string },
      known: ReadonlyMap<number, KnownRow>,
      isWhole: boolean,
    ): Promise<boolean>;
  };
  close(): Promise<void>;
}

export interface StateContext {
  readonly database: StateDatabase;
  readonly presence: Presence;
  /** The state folder of this machine, for files beside the state. */
  readonly folder: string | undefined;
  readonly highest: HighestNumber;
  readonly begun: BegunContents;
  /** Opens the state that is there now, if this one was replaced by another. */
  reopen(): Promise<ReopenedState | undefined>;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  random(): number;
  /** Cancels waiting for other processes. */
  readonly interrupted: AbortSignal | undefined;
  /** Prints a line about what the command waits for. */
  warn(line: string): void;
}
