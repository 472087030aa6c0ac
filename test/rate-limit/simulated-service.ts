import type { ResponseHead } from '../../src/rate-limit/permits.ts';

export interface SimulatedServiceOptions {
  /** Length of the short window, in milliseconds. */
  readonly window: number;
  readonly limit: number;
  readonly dayLimit?: number;
  /** The service's clock at the beginning: milliseconds since the Unix epoch. */
  readonly start: number;
  /** How much faster the service's clock runs than ours: 0.0001 is 100 ppm. */
  readonly drift?: number;
  /** Milliseconds after its end at which a window is reset. */
  readonly late?: number;
  /** Which headers a 429 has. */
  readonly refusal?: 'all' | 'no limits' | 'no Retry-After' | 'nothing';
  /** More of our 429s than this in a window, except in the first second after the first, ban the key for 300 s. */
  readonly strikes?: number;
}

/** A 429, and the time until which the service allows no request. Both times are on our clock. */
export interface Refusal {
  readonly at: number;
  readonly until: number;
}

interface Window {
  readonly length: number;
  readonly limit: number;
  end: number;
  used: number;
}

const day = 86_400_000;

/** A service with fixed windows and its own clock. */
export class SimulatedService {
  banned = 0;
  readonly refusals: Refusal[] = [];
  readonly #options: SimulatedServiceOptions;
  readonly #windows: Window[];
  #firstStrike = Number.NEGATIVE_INFINITY;
  #strikes = 0;
  #bannedUntil = 0;

  constructor(options: SimulatedServiceOptions) {
    this.#options = options;
    const small = { length: options.window, limit: options.limit, end: 0, used: 0 };
    const large = { length: day, limit: options.dayLimit ?? Number.MAX_SAFE_INTEGER, end: 0, used: 0 };
    this.#windows = [small, large];
  }

  /** Returns the time of the service's clock. */
  timeAt(at: number): number {
    return this.#options.start + at * (1 + (this.#options.drift ?? 0));
  }

  /** Handles a request. @param isOurs false for other clients, whose refusals aren't recorded */
  handle(at: number, isOurs = true): ResponseHead {
    const now = this.timeAt(at);
    for (const window of this.#windows) this.#roll(window, now);
    const spent = this.#windows.filter((window) => window.used >= window.limit);
    if (now < this.#bannedUntil) return this.#refuse(at, now, this.#bannedUntil, isOurs);
    if (spent.length > 0) return this.#refuse(at, now, Math.max(...spent.map(({ end }) => end)), isOurs);
    for (const window of this.#windows) window.used += 1;
    return { status: 200, headers: { ...this.#date(now), ...this.#limits() } };
  }

  #roll(window: Window, now: number): void {
    const { late = 0 } = this.#options;
    if (now < window.end + late) return;
    window.end = (Math.floor((now - late) / window.length) + 1) * window.length;
    window.used = 0;
  }

  #refuse(at: number, now: number, until: number, isOurs: boolean): ResponseHead {
    const { refusal = 'all', strikes = Number.POSITIVE_INFINITY, drift = 0 } = this.#options;
    const seconds = Math.max(1, Math.ceil((until - now) / 1000));
    if (!isOurs) return { status: 429, headers: {} };
    this.refusals.push({ at, until: at + (seconds * 1000) / (1 + drift) });
    if (now - this.#firstStrike >= this.#options.window) [this.#firstStrike, this.#strikes] = [now, 0];
    else if (now - this.#firstStrike > 1000) this.#strikes += 1;
    if (this.#strikes > strikes && now >= this.#bannedUntil) {
      this.#bannedUntil = now + 300_000;
      this.banned += 1;
    }
    const limits = refusal === 'all' || refusal === 'no Retry-After' ? this.#limits() : {};
    const retryAfter = refusal === 'all' || refusal === 'no limits' ? { 'retry-after': String(seconds) } : {};
    return { status: 429, headers: { ...this.#date(now), ...limits, ...retryAfter } };
  }

  /** Returns the headers of the window with fewer requests left, or of the day on a tie. */
  #limits(): Record<string, string> {
    const left = ({ limit, used }: Window) => Math.max(0, limit - used);
    const [shown] = this.#windows.toReversed().sort((a, b) => left(a) - left(b));
    if (shown === undefined) return {};
    return {
      'x-ratelimit-limit': String(shown.limit),
      'x-ratelimit-remaining': String(left(shown)),
      'x-ratelimit-reset': String(Math.ceil(shown.end / 1000)),
    };
  }

  #date(now: number): { date: string } {
    return { date: new Date(now).toUTCString() };
  }
}
