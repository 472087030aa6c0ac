import type { Clock, Deadline } from '../shared/clock.ts';

/** The time-out of one request. It does not run while something else than the service is waited for. */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #onPassed: () => void;
  #left: number;
  #since = 0;
  #deadline: Deadline | undefined;
  hasPassed = false;

  /** Begins at once. @param timeout in milliseconds */
  constructor(clock: Clock, timeout: number, onPassed: () => void) {
    this.#clock = clock;
    this.#left = timeout;
    this.#onPassed = onPassed;
    this.#start();
  }

  stop(): void {
    this.#left = Math.max(0, this.#left - (this.#clock.monotonic() - this.#since));
    this.#deadline?.clear();
  }

  async pause<T>(work: () => Promise<T>): Promise<T> {
    this.stop();
    try {
      return await work();
    } finally {
      this.#start();
    }
  }

  #start(): void {
    this.#since = this.#clock.monotonic();
    this.#deadline = this.#clock.deadline(this.#left, () => {
      this.hasPassed = true;
      this.#onPassed();
    });
  }
}
