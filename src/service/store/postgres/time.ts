import type { Clock } from '../../clock.ts';

/**
 * The time of the database, between two answers of it: as far ahead of this machine's clock as it was when it last said so.
 * Never ahead of it by more than the clocks drift apart meanwhile, since an answer takes time.
 */
export class DatabaseTime {
  readonly #local: Clock;
  #ahead = 0;
  #moved = 0;

  constructor(local: Clock) {
    this.#local = local;
  }

  now(): number {
    return Math.floor(this.#local.now() + this.#ahead);
  }

  /** The same without what it has been moved ahead by administration. */
  unmoved(): number {
    return this.now() - this.#moved;
  }

  /** @param now what the database has just said @param moved how much of it is by administration */
  seen(now: number, moved: number): void {
    this.#ahead = now - this.#local.now();
    this.#moved = moved;
  }
}
