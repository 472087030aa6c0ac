import type { ShownLimit } from '../limits/admission.ts';

/**
 * The headers that every answer carries, whatever its status.
 * @param date as `HttpDates` gave it
 */
export function commonHeaders(date: string, requestId: string, shown: ShownLimit): Record<string, string> {
  return {
    Date: date,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetAt / 1000)),
  };
}

/** The same text for a whole second: it takes longer to make than it looks. */
export class HttpDates {
  #second = Number.NaN;
  #text = '';

  /** @param now milliseconds since the Unix epoch */
  at(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(now).toUTCString();
    }
    return this.#text;
  }
}

/** Whole seconds from `now` to `moment`: at least 1, and never short of it. */
export function retryAfter(moment: number, now: number): string {
  return String(Math.max(1, Math.ceil((moment - now) / 1000)));
}

export const JSON_TYPE = 'application/json';
