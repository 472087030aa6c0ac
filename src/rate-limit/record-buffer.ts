import type { Deadline } from '../shared/clock.ts';
import type { GovernorOptions } from './governor-options.ts';
import type { KeyState } from './key-state.ts';
import type { LimitRecord } from './limit-records.ts';
import { closesGate } from './observation.ts';

/**
 * Bounds of the time that a record may wait to be written with others, in milliseconds. Within them, a record waits ten
 * times as long as the last write took.
 */
const minDelay = 100;
const maxDelay = 250;

/**
 * Buffers records and writes them in order, one transaction at a time. Records that can wait are written with the next
 * transaction, or after 100 ms (up to 250 ms if writing is slow). Records that can't be written stay buffered.
 */
export class RecordBuffer {
  readonly #options: Pick<GovernorOptions, 'clock' | 'limits' | 'scope'>;
  readonly #records: LimitRecord[] = [];
  /** Number of buffered records that close the gate. */
  #gates = 0;
  #last: Promise<unknown> = Promise.resolve();
  #deadline: Deadline | undefined;
  #delay = minDelay;

  constructor(options: Pick<GovernorOptions, 'clock' | 'limits' | 'scope'>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#records.length === 0;
  }

  /** Whether a response that closes the gate has not been written yet. */
  get hasGate(): boolean {
    return this.#gates > 0;
  }

  add(record: LimitRecord): void {
    this.#records.push(record);
    if (closesGate(record)) this.#gates += 1;
    // An error is ignored here: the records stay buffered, and the next call writes them or throws.
    this.#deadline ??= this.#options.clock.deadline(this.#delay, () => void this.flush().catch(() => {}));
  }

  /**
   * Writes the buffered records, followed by these.
   * @returns the resulting state, which is outdated after the next call
   */
  fold(records: readonly LimitRecord[]): Promise<KeyState> {
    const turn = this.#last.then(() => this.#write(records));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async flush(): Promise<void> {
    await (this.isEmpty ? this.#last : this.fold([]));
  }

  async #write(more: readonly LimitRecord[]): Promise<KeyState> {
    const { limits, scope, clock } = this.#options;
    const buffered = this.#records.length;
    this.#deadline?.clear();
    this.#deadline = undefined;
    if (buffered + more.length === 0) return limits.peek(scope);
    const began = clock.monotonic();
    const state = await limits.fold(scope, [...this.#records, ...more]);
    this.#delay = Math.min(Math.max(minDelay, 10 * (clock.monotonic() - began)), maxDelay);
    this.#records.splice(0, buffered);
    this.#gates = this.#records.filter(closesGate).length;
    return state;
  }
}
