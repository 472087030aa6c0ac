import { parseHttpDate } from './http-date.ts';

/** Header names in lower case; a header that came more than once is an array. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The last second of the year 9999, since the Unix epoch: nothing that a service means lies beyond it. */
const endOfDates = 253_402_300_799;

/** What the three X-RateLimit headers of one answer say. */
export interface RateLimit {
  readonly limit: bigint;
  /** Requests left in the current window. */
  readonly remaining: bigint;
  /** When the window ends: seconds since the Unix epoch, by the service's clock. */
  readonly reset: number;
}

/** @returns undefined unless all three headers are there, once each, as plain decimal numbers; a negative number of requests left is 0 */
export function parseRateLimit(headers: Headers): RateLimit | undefined {
  const limit = digits(headers['x-ratelimit-limit']);
  const remaining = remainingOf(headers['x-ratelimit-remaining']);
  const reset = digits(headers['x-ratelimit-reset']);
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  // Past the year 9999 it is no timestamp in seconds.
  if (reset > BigInt(endOfDates)) return undefined;
  return { limit, remaining, reset: Number(reset) };
}

/** A service that counts refused requests may go below 0: nothing is left. */
function remainingOf(value: string | readonly string[] | undefined): bigint | undefined {
  return typeof value === 'string' && /^-\d{1,19}$/.test(value) ? 0n : digits(value);
}

function digits(value: string | readonly string[] | undefined): bigint | undefined {
  return typeof value === 'string' && /^\d{1,19}$/.test(value) ? BigInt(value) : undefined;
}

/**
 * Reads Retry-After: whole seconds, or one of the three HTTP-dates. Anything else is no value. Of several the longest.
 *
 * @param now the service's time in milliseconds since the Unix epoch, from which a date is counted
 * @returns milliseconds to wait, never negative
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  // A proxy may have joined two headers; a date has a comma of its own.
  const values = [headers['retry-after'] ?? []]
    .flat()
    .flatMap((value) => (/^[\d\s,]+$/.test(value) ? value.split(',') : [value]));
  const waits = values.map((value) => parseOne(value.trim(), now)).filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function parseOne(value: string, now: number): number | undefined {
  // Any number of digits is a number of seconds, but the end of the wait has to stay a time that a Date holds.
  if (/^\d+$/.test(value)) return Math.min(Number(value), endOfDates) * 1000;
  const date = parseHttpDate(value, now);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/**
 * The service's time when it answered, from `Date`: milliseconds since the Unix epoch, cut to whole seconds by the
 * header's resolution, so at most a second early.
 */
export function parseDate(headers: Headers, now: number): number | undefined {
  const value = headers.date;
  return typeof value === 'string' ? parseHttpDate(value, now) : undefined;
}
