import type { Clock } from '../shared/clock.ts';

/** The time that requests, and pauses between them, may take altogether. */
export class TimeBudget {
  readonly #clock: Clock;
  left: number;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.left = ms;
  }

  async spend<Result>(work: () => Promise<Result>, began = this.#clock.monotonic()): Promise<Result> {
    try {
      return await work();
    } finally {
      this.left -= this.#clock.monotonic() - began;
    }
  }
}

/** Reports whether `work` ends within `ms`. */
export function isOverWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const deadline = clock.deadline(ms, () => resolve(false));
    void work.finally(() => {
      deadline.clear();
      resolve(true);
    });
  });
}
