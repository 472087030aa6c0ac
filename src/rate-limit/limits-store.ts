import type { KeyState } from './key-state.ts';
import type { LimitRecord } from './records.ts';

/**
 * The limits of each key as they are known, shared by every process that has the same store. The rules stay pure: a store
 * only makes reading, folding and writing one transaction.
 *
 * A state that was returned belongs to the store: it is read, never changed, and out of date after the next call.
 */
export interface LimitsStore {
  /**
   * One transaction: folds the records into the state of a key, in their order, and returns what it has become.
   * Not durable against a power cut; visible to every other process at once.
   * @throws UnavailableError if another process holds the store for too long, FailureError if it can't be written
   */
  fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState>;
  /**
   * The latest state, without a change to it. Absent if `peek` always has it.
   * @throws as `fold`
   */
  read?(scope: string): Promise<KeyState>;
  /**
   * The state without a transaction, for the last look before a request leaves: it never waits. A store behind a network
   * answers from what it was notified of.
   */
  peek(scope: string): KeyState;
  /**
   * Names one life of a database, which ends when it is lost, restored or taken over. Within one a gate is never lowered but by who clears or repairs it.
   * Absent if the store is of this machine.
   */
  life?(): string | undefined;
  /** Reports whether a store with a life was asked about this key in it, and has told of all changes since. */
  isCurrent?(scope: string): boolean;
  /** The keys that were used, with what is known of each. */
  list(): Promise<readonly KnownKey[]>;
  /** Forgets what the service said of a key: windows, gate, episodes. Requests in flight stay counted. */
  clear(scope: string): Promise<void>;
}

export interface KnownKey {
  readonly scope: string;
  readonly state: KeyState;
}
