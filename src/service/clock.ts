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

  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }
}
