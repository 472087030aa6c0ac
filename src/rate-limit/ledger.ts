import { fold } from './fold.ts';
import type { KeyState } from './key-state.ts';
import { emptyState } from './key-state.ts';
import type { LedgerRecord } from './records.ts';

/** What is known of one key, and the records that it comes from, shared by all that use the same ledger. */
export interface Ledger {
  /** The state after the last record read. It changes with every call of the other two. */
  readonly state: KeyState;
  /** Whether requests have to go one at a time, since other processes can't see them here. */
  readonly alone: boolean;
  /** Reads what others have written since. */
  refresh(): void;
  /** The same for who has just refreshed, and is in a hurry: it is not noticed if the ledger was removed. */
  glance(): void;
  /** Writes a record, and reads up to it. Never fails: where it can't be written, it counts for this process alone. */
  commit(record: LedgerRecord): void;
}

/** A ledger for this process alone. */
export function createTransientLedger(): Ledger {
  const state = emptyState();
  return { state, alone: false, refresh: () => {}, glance: () => {}, commit: (record) => fold(state, record) };
}
