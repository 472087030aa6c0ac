import { setTimeout as sleep } from 'node:timers/promises';

/** Where the service takes the time from: milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** A clock in whole milliseconds that can be moved ahead, so that a client's waiting can be tried out at once. */
export class MovableClock implements Clock {
  readonly #source: Clock;
  #ahead = 0;

  constructor(source: Clock) {
    this.#source = source;
  }

  now(): number {
    return Math.floor(this.#source.now()) + this.#ahead;
  }

  /** Milliseconds of the clock behind it: for durations. */
  unmoved(): number {
    return this.#source.now();
  }

  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }
}

/** Milliseconds. A store that takes longer to answer is of no use to clients, and what watches the service asks on. */
const BOUND_MS = 2_000;

/** Resolves with what comes of it in time, else with `late`. */
export function within<Result>(promise: Promise<Result>, late: Result): Promise<Result> {
  return Promise.race([promise, sleep(BOUND_MS, late, { ref: false })]);
}
