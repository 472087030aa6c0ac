import { isOfGateway } from '../shared/http-status.ts';
import type { Headers, RateLimit, ResponseHead, SeenRateLimit } from './governor.ts';
import type { LimitRecord, ResponseRecord } from './records.ts';

/** What is known of an answer besides its head. */
export interface ObservationContext extends Pick<ResponseRecord, 'id' | 'at' | 'wall' | 'date' | 'leftAt'> {
  /** The service's time as far as the `Date` of earlier answers tells it; undefined if none had one. */
  serviceTime(): number | undefined;
}

/** Returns what the head of an answer means for the store. */
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

/** Our own clock may be off by any amount, so it counts only if nothing better does, or against a single `Date`. */
const maxClockError = 86_400_000;

/** Returns the time by each clock that may be right: a single `Date` may be wrong, so it never shortens a wait. */
function clocksOf({ date, wall, serviceTime }: ObservationContext): readonly number[] {
  const known = serviceTime();
  if (date === undefined) return [known ?? wall];
  if (known !== undefined) return [date, known];
  return Math.abs(date - wall) <= maxClockError ? [date, wall] : [date];
}

/** Reports whether a record closes the gate: an answer of 429 always, one of 502, 503 or 504 if it says for how long. */
export function closesGate(record: LimitRecord): boolean {
  if (record.type !== 'answer') return false;
  const { status, retryAfter = 0 } = record;
  return status === 429 || (isOfGateway(status) && retryAfter > 0);
}

/** Returns what an answer says of its limits, for people. */
export function seenIn({ limit, remaining, reset, date, wall }: ResponseRecord): SeenRateLimit | undefined {
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  // By the service's own clock if it says it, since the local one may be wrong.
  return { limit, remaining, resetAt: wall + Math.max(0, reset - (date ?? wall)), asOf: wall };
}

/** The last second of the year 9999, since the Unix epoch: nothing that a service means lies beyond it. */
const endOfDates = 253_402_300_799;

/** @returns undefined unless all three headers are there, once each, as plain decimal numbers; a negative number of requests left is 0 */
export function parseRateLimit(headers: Headers): RateLimit | undefined {
  const limit = digits(headers['x-ratelimit-limit']);
  // A service that counts refused requests may go below 0: nothing is left.
  const remaining = digits(headers['x-ratelimit-remaining'], /^-?\d{1,19}$/);
  const reset = digits(headers['x-ratelimit-reset']);
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  // Past the year 9999 it is no timestamp in seconds.
  return reset > endOfDates ? undefined : { limit, remaining: Math.max(0, remaining), reset: reset * 1000 };
}

function digits(value: string | readonly string[] | undefined, form = /^\d{1,19}$/): number | undefined {
  return typeof value === 'string' && form.test(value) ? Number(value) : undefined;
}

/** Milliseconds that an unreadable Retry-After asks for at least. */
const minUnreadable = 60_000;

/**
 * Reads Retry-After: whole seconds, or one of the three HTTP-dates. Anything else, and a date that has passed, is taken for
 * the longest wait that it can mean, and for 60 s at least. The longest of several counts.
 *
 * @param nows the service's time by each clock that tells it, in milliseconds since the Unix epoch: a date is counted from the
 *   earliest
 * @returns milliseconds to wait, never negative; undefined if nothing is asked for
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

/** A proxy may have joined two headers; a date has a comma of its own, behind its day. */
const betweenValues = /(?<!(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?),/i;
/** One number with its digits in groups: nobody begins a number of seconds with 0. */
const thousands = /^\s*\d{1,3}(?:,\d{3})*,0\d\d(?:,\d{3})*\s*$/;

function parseOne(value: string, now: number): number {
  if (/^\d+$/.test(value)) return secondsOf(Number(value));
  const date = parseHttpDate(value, now);
  return date === undefined || date < now ? longestReading(value, now) : date - now;
}

/** Seconds of a unit, by its first letter. */
const unitSeconds: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };

/** Returns the longest wait that `120.0`, `+120`, `"120"`, `1e2`, `120 s`, `1m30s`, `PT2H`, `00:02:00` or a date of another form can mean. */
function longestReading(value: string, now: number): number {
  const dates = value.includes(':') ? [Date.parse(value), Date.parse(`${value} UTC`)].filter(Number.isFinite) : [];
  // Digits of a date are no seconds.
  const waits = dates.length > 0 ? dates.map((date) => date - now) : secondsIn(value).map(secondsOf);
  return Math.max(minUnreadable, ...waits);
}

/** Returns each number by itself, each time of a stopwatch, and the sum of all numbers with a unit. */
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

/** Any number is a number of seconds, but the end of the wait has to stay a time that a Date holds. */
function secondsOf(value: number): number {
  return Math.min(value, endOfDates) * 1000;
}

/**
 * The service's time when it answered, from `Date`: milliseconds since the Unix epoch, cut to whole seconds by the
 * header's resolution, so at most a second early.
 */
export function parseDate(headers: Headers, now: number): number | undefined {
  const value = headers.date;
  return typeof value === 'string' ? parseHttpDate(value, now) : undefined;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Looked up afterwards: with the twelve names in it, a form takes 0.8 M instructions more to compile. */
const month = '(?<month>[A-Z][a-z]{2})';
const time = '(?<time>\\d{2}:\\d{2}:\\d{2})';

/** The three forms of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850, asctime. All of them are UTC. */
const forms = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Reads an HTTP-date.
 *
 * @param now milliseconds since the Unix epoch; decides the century of a two-digit year
 * @returns milliseconds since the Unix epoch, or undefined for anything else. `Date.parse` is not given the text, since it
 *   takes asctime for local time and accepts much that is no HTTP-date.
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
  // A day that its month does not have becomes one of the next.
  return date.toJSON() === iso ? date.getTime() + (usual === time ? 0 : 1000) : undefined;
}

/** Two digits of a year more than 50 years ahead mean the most recent past year that ends in them. */
function fullYear(digits: string, now: number): string {
  if (digits.length === 4) return digits;
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return `${year > thisYear + 50 ? year - 100 : year}`;
}
