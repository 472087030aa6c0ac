/** The known limits of a key: requests per minute and per day. */
export interface PaceLimits {
  readonly minute: number | undefined;
  readonly day: number | undefined;
}

/** The largest share of a limit that repeated checks may use. */
const share = 0.1;
const minute = 60_000;
const day = 86_400_000;
/**
 * The daily limit of each published plan of the service, by its limit per minute. Responses show the daily limit only
 * while no more is left of the day than of the minute.
 */
const dayOfPlan: ReadonlyMap<number, number> = new Map([
  [60, 1000],
  [300, 10_000],
  [1000, 100_000],
]);
const maxDoublings = 6;
/** After this many successful checks, an interval that 429s have doubled is halved. */
const checksToRecover = 10;

/**
 * Computes how long to wait between two checks of a service: the requested interval, or longer if the checks would use
 * more than a tenth of a limit. Half of a day's tenth may be used as fast as the minute allows; the other half is
 * spread over the day.
 */
export class Pace {
  readonly #wanted: number;
  /** How many of the day's requests may be used now; undefined until the daily limit is known. */
  #credit: { left: number; at: number } | undefined;
  #checks = 0;
  #doublings = 0;
  #good = 0;

  /** @param wanted the requested interval in milliseconds */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** The requested interval, doubled by 429s, in milliseconds. Limits don't affect it. */
  get interval(): number {
    return this.#wanted * 2 ** this.#doublings;
  }

  /** Call this for each check. */
  recordPoll(): void {
    this.#checks += 1;
    if (this.#credit !== undefined) this.#credit.left -= 1;
  }

  /** Call this after a successful check. */
  answered(): void {
    this.#good += 1;
    if (this.#doublings === 0 || this.#good < checksToRecover) return;
    this.#doublings -= 1;
    this.#good = 0;
  }

  /** Call this after a check that was refused with a 429. */
  refused(): void {
    this.#doublings = Math.min(maxDoublings, this.#doublings + 1);
    this.#good = 0;
  }

  /**
   * Returns the minimum time from the last check to the next, in milliseconds.
   * @param now the time by the monotonic clock
   */
  least(limits: PaceLimits, now: number): number {
    const byMinute = limits.minute === undefined ? 0 : minute / (limits.minute * share);
    const dayLimit = limits.day ?? dayOfPlan.get(limits.minute ?? 0);
    return dayLimit === undefined ? byMinute : Math.max(byMinute, this.#byDay(dayLimit, now));
  }

  #byDay(limit: number, now: number): number {
    const half = (limit * share) / 2;
    const most = Math.max(1, half);
    const credit = this.#credit ?? { left: most - this.#checks, at: now };
    credit.left = Math.min(most, credit.left + ((now - credit.at) * half) / day);
    credit.at = now;
    this.#credit = credit;
    return credit.left >= 1 ? 0 : ((1 - credit.left) * day) / half;
  }
}
