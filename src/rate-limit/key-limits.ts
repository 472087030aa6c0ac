import type { KeyState } from './key-state.ts';
import type { LimitRecord } from './limit-records.ts';

/**
 * The known limits of each key, shared by all processes that use the same state. An implementation makes reading,
 * folding (see `fold.ts`) and writing one transaction.
 *
 * A returned state belongs to the implementation: callers read it and never change it. It is outdated after the next
 * call.
 */
export interface KeyLimits {
  /**
   * Folds the records into the state of a key, in order and in one transaction, and returns the result. The result is
   * visible to every other process at once, but a power cut may lose it, unless it closes the gate.
   * @throws UnavailableError if another process locks the limits for too long or the database can't be reached,
   * FailureError if they can't be read or written
   */
  fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState>;
  /**
   * Returns the latest state. This method is absent if `peek` always returns that state.
   * @throws the same errors as `fold`
   */
  read?(scope: string): Promise<KeyState>;
  /**
   * Returns the state without a transaction, for the check right before sending; never waits. With a shared database,
   * the state may be outdated. If that is known, it shows no requests in flight, so that nothing is sent.
   */
  peek(scope: string): KeyState;
  /**
   * Identifies the epoch of a database. An epoch ends when data is lost or restored, or at a failover; within it, a
   * gate is never shortened, except by clearing or repairing it. This method is absent if the limits are local.
   */
  life?(): string | undefined;
  /** Reports whether this key was read within the current epoch and all changes since then were received. */
  isCurrent?(scope: string): boolean;
  /** Returns the keys that were used, with what is known about each. */
  list(): Promise<readonly KnownKey[]>;
  /** Clears what the service has reported about a key: windows, gate, episodes. Requests in flight stay counted. */
  clear(scope: string): Promise<void>;
}

export interface KnownKey {
  readonly scope: string;
  readonly state: KeyState;
}
