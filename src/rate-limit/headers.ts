import type { Headers, RateLimit } from './permits.ts';
import { maxGate, standardWait } from './waits.ts';

/** The end of the year 9999, in seconds since the Unix epoch: no service means a later time. */
const endOfDates = 253_402_300_799;

/**
 * Parses the three rate limit headers.
 * @returns undefined unless each of them is present once, as a plain decimal number, and the window ends before the
 * year 10000
 */
export function parseRateLimit(headers: Headers): RateLimit | undefined {
  const limit = digits(headers['x-ratelimit-limit']);
  // A service that counts refused requests may go below 0.
  const remaining = digits(headers['x-ratelimit-remaining'], /^-?\d{1,19}$/);
  const reset = digits(headers['x-ratelimit-reset']);
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return reset > endOfDates ? undefined : { limit, remaining: Math.max(0, remaining), reset: reset * 1000 };
}

function digits(value: string | readonly string[] | undefined, form = /^\d{1,19}$/): number | undefined {
  return typeof value === 'string' && form.test(value) ? Number(value) : undefined;
}

/**
 * Matches a comma between two values (a proxy may have joined two headers), but not the one after the weekday of a
 * date.
 */
const betweenValues = /(?<!(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?),/i;

/**
 * Parses Retry-After: whole seconds, or one of the three HTTP-dates. Anything else, including a past date, counts as
 * 60 s at least. If there are several values, the longest counts.
 * @param now the service's time, in milliseconds since the Unix epoch
 * @returns milliseconds to wait, never negative; undefined if there is no value
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const values = [headers['retry-after'] ?? []]
    .flat()
    .flatMap((value) => value.split(betweenValues))
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return values.length === 0 ? undefined : Math.max(...values.map((value) => parseOne(value, now)));
}

function parseOne(value: string, now: number): number {
  if (/^\d+$/.test(value)) return Math.min(Number(value), endOfDates) * 1000;
  const date = parseHttpDate(value, now);
  if (date !== undefined && date >= now) return date - now;
  // `120.0` and `+120` are no valid values, but at least numbers.
  const seconds = Number(value);
  return Number.isFinite(seconds) ? Math.max(standardWait, Math.min(seconds, endOfDates) * 1000) : standardWait;
}

/** Returns a warning about a wait that is cut to the longest one; undefined for any other. */
export function tooLongWait(retryAfter: number): string | undefined {
  if (retryAfter <= maxGate) return undefined;
  const days = Math.ceil(retryAfter / 86_400_000);
  const asked = days > 365 ? 'more than a year' : `${days} days`;
  return `The service asked for a wait of ${asked}. petstock waits at most ${maxGate / 86_400_000} days. To clear the wait: petstock limits clear`;
}

/**
 * Returns the service's time when it responded, from `Date`: milliseconds since the Unix epoch, truncated to whole
 * seconds, so at most a second early. Undefined if it is missing or not valid.
 */
export function parseDate(headers: Headers, now: number): number | undefined {
  const value = headers.date;
  return typeof value === 'string' ? parseHttpDate(value, now) : undefined;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<time>\\d{2}:\\d{2}:\\d{2})';

/** The three forms of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850, asctime. All are in UTC. */
const forms = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Parses an HTTP-date. `Date.parse` can't be used, because it reads asctime as local time and accepts much that is not
 * an HTTP-date.
 * @param now milliseconds since the Unix epoch; decides the century of a two-digit year
 * @returns milliseconds since the Unix epoch; undefined for anything else
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const groups = forms.find((form) => form.test(text))?.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { day = '', month = '', year = '', time = '' } = groups;
  const monthNumber = `${months.indexOf(month) + 1}`.padStart(2, '0');
  // A leap second is written as 60 and counts as the next second.
  const usual = time.replace(/60$/, '59');
  const iso = `${fullYear(year, now)}-${monthNumber}-${day.replace(' ', '0')}T${usual}.000Z`;
  const date = new Date(iso);
  // `Date` turns a day that the month does not have into one of the next month.
  return date.toJSON() === iso ? date.getTime() + (usual === time ? 0 : 1000) : undefined;
}

/**
 * Returns the full year. A two-digit year more than 50 years ahead means the most recent past year that ends in these
 * digits.
 */
function fullYear(digits: string, now: number): string {
  if (digits.length === 4) return digits;
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return `${year > thisYear + 50 ? year - 100 : year}`;
}
