import type { LimitsStore } from '../rate-limit/limits-store.ts';
import type { Presence } from './processes-present.ts';
import type { History } from './stored-history.ts';
import type { Pets } from './stored-pets.ts';

/**
 * The facts that a command has to know of other commands: the limits of a key, who writes which pet, what was written, and who is
 * there. One store behind one interface; `sqlite/` is the driver for one machine, `postgres/` for several. Everything that may
 * cross a network is a promise; what is asked right before a request leaves never waits.
 */
export interface State {
  readonly limits: LimitsStore;
  readonly pets: Pets;
  readonly history: History;
  readonly presence: Presence;
  /** In the place of a shared state that can't be reached: others use the same keys, and it does not know of them. */
  readonly isStandIn?: boolean;
  describe(): Promise<StateDescription>;
  /** Reads all of it. @returns what is wrong with it, a sentence each; none where it is sound */
  check(): Promise<readonly string[]>;
  /** Writes out what is buffered, ends the presence of this process, and closes. May be called again. */
  close(): Promise<void>;
}

export interface StateDescription {
  /** `sqlite`, `postgresql 16.4` */
  readonly engine: string;
  /** A path, or an address without its password. */
  readonly location: string;
  readonly schema: number;
  readonly bytes: number;
  readonly runs: number;
  readonly rows: number;
  /** How far the clock of the state is ahead of that of this machine, in milliseconds, where it has one of its own. */
  readonly clockAhead?: number;
  /** Settings of it that weaken a promise, a sentence each. */
  readonly warnings?: readonly string[];
}
