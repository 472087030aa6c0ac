import { isOfGateway } from '../shared/http-status.ts';
import type { LimitRecord, ResponseRecord } from './limit-records.ts';
import type { Headers, RateLimit, ResponseHead, SeenRateLimit } from './permits.ts';

export interface ObservationContext extends Pick<ResponseRecord, 'id' | 'at' | 'wall' | 'date' | 'leftAt'> {
  /** Returns the service's time by the `Date` of earlier responses; undefined if it is not known from them. */
  serviceTime(): number | undefined;
}

/** Converts the head of a response to a record. */
export function recordOf(answer: ResponseHead, receipt: ObservationContext, random: () => number): ResponseRecord {
  const { status, headers } = answer;
  const { id, at, wall, leftAt, date } = receipt;
  const shown = parseRateLimit(headers);
  const mayAsk = status === 429 || isOfGateway(status);
  const asked = mayAsk && {
    retryAfter: parseRetryAfter(headers, clocksOf(receipt)),
    random: random(),
  };
  return { type: 'answer', id, at, leftAt, wall, status, date, ...shown, ...asked };
}

/**
 * The local clock is ignored if it differs from a single `Date` by more than this, in milliseconds: it may be off by
 * any amount.
 */
const maxClockError = 86_400_000;

/**
 * Returns the time by each clock that may be right. A single `Date` may be wrong, so it can shorten a wait only if it
 * is the only usable clock.
 */
function clocksOf({ date, wall, serviceTime }: ObservationContext): readonly number[] {
  const known = serviceTime();
  if (date === undefined) return [known ?? wall];
  if (known !== undefined) return [date, known];
  return Math.abs(date - wall) <= maxClockError ? [date, wall] : [date];
}

/** Reports whether a record closes the gate: a 429 always does; a 502, 503 or 504 only if it asks for a wait. */
export function closesGate(record: LimitRecord): boolean {
  if (record.type !== 'answer') return false;
  const { status, retryAfter = 0 } = record;
  return status === 429 || (isOfGateway(status) && retryAfter > 0);
}

/** Returns the rate limit that a response reports, for display; undefined if it reports none. */
export function seenIn({ limit, remaining, reset, date, wall }: ResponseRecord): SeenRateLimit | undefined {
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  // Uses the service's own clock if possible, because the local clock may be wrong.
  return { limit, remaining, reset, resetAt: wall + Math.max(0, reset - (date ?? wall)), asOf: wall };
}

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

/** Minimum wait for an unreadable Retry-After, in milliseconds. */
const minUnreadable = 60_000;

/**
 * Parses Retry-After: whole seconds, or one of the three HTTP-dates. Anything else, including a past date, counts as
 * the longest wait that it can mean, and at least 60 s. If there are several values, the longest counts.
 * @param nows the service's time by each clock that knows it, in milliseconds since the Unix epoch; a date is counted
 * from the earliest
 * @returns milliseconds to wait, never negative; undefined if there is no value
 */
export function parseRetryAfter(headers: Headers, nows: readonly number[]): number | undefined {
  const now = Math.min(...nows);
  const values = [headers['retry-after'] ?? []]
    .flat()
    .flatMap((value) => [...value.split(betweenValues), ...(thousands.test(value) ? [value.replaceAll(',', '')] : [])])
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return values.length === 0 ? undefined : Math.max(...values.map((value) => parseOne(value, now)));
}

/**
 * Matches a comma between two values (a proxy may have joined two headers), but not the one after the weekday of a
 * date.
 */
const betweenValues = /(?<!(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?),/i;
/**
 * Matches one number with grouped digits, like `3,000`, if a group after the first begins with 0. It can't be a list of
 * values, because no number of seconds begins with 0. `3,500` may be two values, so it does not match.
 */
const thousands = /^\s*\d{1,3}(?:,\d{3})*,0\d\d(?:,\d{3})*\s*$/;

function parseOne(value: string, now: number): number {
  if (/^\d+$/.test(value)) return secondsOf(Number(value));
  const date = parseHttpDate(value, now);
  return date === undefined || date < now ? longestReading(value, now) : date - now;
}

/** Seconds per unit, by its first letter. */
const unitSeconds: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };

/**
 * Returns the longest wait that a text like `120.0`, `+120`, `"120"`, `1e2`, `120 s`, `1m30s`, `PT2H`, `00:02:00` or a
 * date of another form can mean.
 */
function longestReading(value: string, now: number): number {
  const dates = value.includes(':') ? [Date.parse(value), Date.parse(`${value} UTC`)].filter(Number.isFinite) : [];
  // The digits of a date are not seconds.
  const waits = dates.length > 0 ? dates.map((date) => date - now) : secondsIn(value).map(secondsOf);
  return Math.max(minUnreadable, ...waits);
}

/** Returns in seconds: each number by itself, each `hh:mm:ss` time, and the sum of all numbers with a unit. */
function secondsIn(value: string): number[] {
  const numbers = value.match(/\d+(?:\.\d+)?(?:[eE]\+?\d+)?/g) ?? [];
  const times = value.match(/\d+(?::\d+)+/g) ?? [];
  const units = [...value.matchAll(/(\d+(?:\.\d+)?)\s*(m(?!s)|[dhs])/gi)];
  return [
    ...numbers.map(Number),
    ...times.map((time) => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)),
    units.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit.toLowerCase()] ?? 1), 0),
  ];
}

/** Converts seconds to milliseconds; limited, so that the end of the wait stays in the range of a `Date`. */
function secondsOf(value: number): number {
  return Math.min(value, endOfDates) * 1000;
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
