export interface Clock {
  /** The wall clock, in milliseconds since the Unix epoch. It may be stepped. */
  now(): number;
  /** Milliseconds since some moment; never stepped. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds, and keeps the process alive until then.
   * @throws the signal's reason once it is aborted
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `onPassed` after `ms` milliseconds (at most 24 days) unless the deadline is cleared before. This is not an
   * AbortSignal, because every request needs a deadline, and signals are expensive.
   */
  deadline(ms: number, onPassed: () => void): Deadline;
}

export interface Deadline {
  clear(): void;
  /** Lets the process end earlier; absent on a clock that keeps no process alive. */
  unref?(): void;
}

/** The time that the requests of a command, and the pauses between them, may take altogether. */
export class TimeBudget {
  readonly #clock: Clock;
  /** Milliseconds. */
  left: number;

  constructor(clock: Clock, left: number) {
    this.#clock = clock;
    this.left = left;
  }

  /** @param began when `work` began, by the monotonic clock */
  async spend<Result>(work: () => Promise<Result>, began = this.#clock.monotonic()): Promise<Result> {
    try {
      return await work();
    } finally {
      this.left -= this.#clock.monotonic() - began;
    }
  }

  /** Returns the time limit of the next request: the usual one, or less if less time is left. */
  limit(timeout: number): number {
    return Math.min(timeout, Math.max(1, this.left));
  }
}
