import type { Clock, Deadline } from '../shared/clock.ts';
import type { KeyState } from './key-state.ts';
import type { LimitsStore } from './limits-store.ts';
import { asksToWait } from './observation.ts';
import type { LimitRecord } from './records.ts';

/** How long a record may wait for others, in milliseconds. */
const longestDelay = 20;

export interface RecordBufferOptions {
  readonly clock: Clock;
  readonly store: LimitsStore;
  readonly scope: string;
}

/**
 * Records on their way to the store, in their order, one transaction at a time. Those that can wait go with the next
 * transaction, or after 20 ms. What can't be written stays here.
 */
export class RecordBuffer {
  readonly #options: RecordBufferOptions;
  readonly #records: LimitRecord[] = [];
  /** How many of them close the gate. */
  #gates = 0;
  #last: Promise<unknown> = Promise.resolve();
  #deadline: Deadline | undefined;

  constructor(options: RecordBufferOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#records.length === 0;
  }

  /** Whether an answer that closes the gate is not yet in the store. */
  get hasGate(): boolean {
    return this.#gates > 0;
  }

  add(record: LimitRecord): void {
    this.#records.push(record);
    if (closesGate(record)) this.#gates += 1;
    // What fails here fails again, where somebody waits for it.
    this.#deadline ??= this.#options.clock.deadline(longestDelay, () => void this.flush().catch(() => {}));
  }

  /** Writes what is buffered, and these behind it. @returns the state after, which is out of date after the next call */
  fold(records: readonly LimitRecord[]): Promise<KeyState> {
    const turn = this.#last.then(() => this.#write(records));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async flush(): Promise<void> {
    await (this.isEmpty ? this.#last : this.fold([]));
  }

  async #write(more: readonly LimitRecord[]): Promise<KeyState> {
    const { store, scope } = this.#options;
    const buffered = this.#records.length;
    this.#deadline?.clear();
    this.#deadline = undefined;
    if (buffered + more.length === 0) return store.peek(scope);
    const state = await store.fold(scope, [...this.#records, ...more]);
    this.#records.splice(0, buffered);
    this.#gates = this.#records.filter(closesGate).length;
    return state;
  }
}

function closesGate(record: LimitRecord): boolean {
  return record.type === 'answer' && asksToWait(record);
}
