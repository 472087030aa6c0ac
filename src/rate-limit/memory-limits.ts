import { fold } from './fold.ts';
import type { KeyLimits, KnownKey } from './key-limits.ts';
import { clearReported, emptyState, type KeyState } from './key-state.ts';
import type { LimitRecord } from './limit-records.ts';

/** Limits kept in memory, for a state folder that can't be used, and for tests. */
export class MemoryLimits implements KeyLimits {
  readonly #states = new Map<string, KeyState>();

  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    const state = this.peek(scope);
    for (const record of records) fold(state, record);
    this.#states.set(scope, state);
    return state;
  }

  peek(scope: string): KeyState {
    return this.#states.get(scope) ?? emptyState();
  }

  async list(): Promise<readonly KnownKey[]> {
    return [...this.#states].map(([scope, state]) => ({ scope, state }));
  }

  async clear(scope: string): Promise<void> {
    const state = this.#states.get(scope);
    if (state) clearReported(state);
  }
}
