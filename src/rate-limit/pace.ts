/** The known limits of a key: requests a minute and a day. */
export interface PaceLimits {
  readonly minute: number | undefined;
  readonly day: number | undefined;
}

/** The largest share of a limit that looking again and again may take. */
const share = 0.1;
const minute = 60_000;
const day = 86_400_000;
/** The plans that the service has published: an answer shows the limit of the day when hardly any of it is left. */
const dayOfPlan: ReadonlyMap<number, number> = new Map([
  [60, 1000],
  [300, 10_000],
  [1000, 100_000],
]);
const maxDoublings = 6;
/** After so many looks that were answered, the time between two is halved again. */
const looksToRecover = 10;

/**
 * How long to wait between two looks at a service: what was asked for, but never so short that the looks take more than a tenth
 * of a limit. Of a day's tenth one half may be taken as fast as the minute allows, the other comes back over the day.
 */
export class Pace {
  readonly #wanted: number;
  /** Requests that may be taken of the day; undefined until its limit is known. */
  #credit: { left: number; at: number } | undefined;
  #looks = 0;
  #doublings = 0;
  #good = 0;

  /** @param wanted in milliseconds */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** The time from one look to the next after 429s, without regard to limits; in milliseconds. */
  get interval(): number {
    return this.#wanted * 2 ** this.#doublings;
  }

  /** To be called for each look. */
  looked(): void {
    this.#looks += 1;
    if (this.#credit !== undefined) this.#credit.left -= 1;
  }

  /** A look was answered. */
  answered(): void {
    this.#good += 1;
    if (this.#doublings === 0 || this.#good < looksToRecover) return;
    this.#doublings -= 1;
    this.#good = 0;
  }

  /** A look was refused with a 429. */
  refused(): void {
    this.#doublings = Math.min(maxDoublings, this.#doublings + 1);
    this.#good = 0;
  }

  /** The least time from the last look to the next, in milliseconds. @param now by the monotonic clock */
  least(limits: PaceLimits, now: number): number {
    const byMinute = limits.minute === undefined ? 0 : minute / (limits.minute * share);
    const dayLimit = limits.day ?? dayOfPlan.get(limits.minute ?? 0);
    return dayLimit === undefined ? byMinute : Math.max(byMinute, this.#byDay(dayLimit, now));
  }

  #byDay(limit: number, now: number): number {
    const half = (limit * share) / 2;
    const most = Math.max(1, half);
    const credit = this.#credit ?? { left: most - this.#looks, at: now };
    credit.left = Math.min(most, credit.left + ((now - credit.at) * half) / day);
    credit.at = now;
    this.#credit = credit;
    return credit.left >= 1 ? 0 : ((1 - credit.left) * day) / half;
  }
}
