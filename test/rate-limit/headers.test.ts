import { describe, expect, test } from 'vitest';
import { parseDate, parseHttpDate, parseRateLimit, parseRetryAfter } from '../../src/rate-limit/headers.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const now = Date.UTC(2026, 0, 15, 12, 0, 20);

describe('Retry-After', () => {
  test.each<[string | string[] | undefined, number | undefined]>([
    ['60', 60_000],
    ['0', 0],
    [' 60 ', 60_000],
    ['007', 7000],
    ['50400', 50_400_000],
    ['9999999999', 9_999_999_999_000],
    ['', undefined],
    // What can't be read is the longest that it can mean, and 60 s at least.
    ['-1', 60_000],
    ['1.5', 60_000],
    ['0x10', 60_000],
    ['６０', 60_000],
    ['soon', 60_000],
    ['Infinity', 60_000],
    ['120.0', 120_000],
    ['+120', 120_000],
    ['"120"', 120_000],
    ['1e3', 1_000_000],
    ['120 s', 120_000],
    ['10 minutes', 600_000],
    ['1 hour', 3_600_000],
    ['PT2H', 7_200_000],
    // A duration of Go, of ISO 8601 and of .NET.
    ['1m30s', 90_000],
    ['PT1H30M', 5_400_000],
    ['00:02:00', 120_000],
    ['1,000', 1_000_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT, 3600', 3_600_000],
    ['Thu, 15 Jan 2026 12:02:20 GMT, Thu, 15 Jan 2026 12:00:20 GMT', 120_000],
    ['2026-01-15T12:02:20Z', 120_000],
    ['Thu, 15 Jan 2026 12:02:20 UTC', 120_000],
    ['Thu, 15 Jan 2026 12:01:20 GMT', 60_000],
    ['Thursday, 15-Jan-26 12:01:20 GMT', 60_000],
    ['Thu Jan 15 12:01:20 2026', 60_000],
    ['Thu, 15 Jan 2026 12:00:20 GMT', 0],
    // A date that has passed: a clock is wrong.
    ['Thu, 15 Jan 2026 11:59:20 GMT', 60_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 60_000],
    ['Thu, 30 Feb 2026 12:01:20 GMT', Date.UTC(2026, 2, 2, 12, 1, 20) - now],
    // Of several the longest.
    [['60', '120'], 120_000],
    [['120', '60'], 120_000],
    [['garbage', '60'], 60_000],
    [['60', 'Thu, 15 Jan 2026 12:02:20 GMT'], 120_000],
    [['', 'soon'], 60_000],
    // A proxy has joined two.
    ['120, 120', 120_000],
    ['30,300', 300_000],
    ['60, soon', 60_000],
    ['90, soon', 90_000],
    [',', undefined],
    [[], undefined],
    [undefined, undefined],
  ])('%j asks for %j ms', (value, expected) => {
    expect(parseRetryAfter({ 'retry-after': value }, [now])).toBe(expected);
  });

  test('counts a date from the earliest of the clocks', () => {
    const headers = { 'retry-after': 'Thu, 15 Jan 2026 12:01:20 GMT' };
    expect(parseRetryAfter(headers, [now + 3_600_000, now])).toBe(60_000);
    expect(parseRetryAfter(headers, [now, now - 4000])).toBe(64_000);
  });

  property('a number of any length is a wait that a Date can end', [fc.integer({ min: 1, max: 400 })], (length) => {
    const wait = parseRetryAfter({ 'retry-after': '9'.repeat(length) }, [now]);
    expect(Number.isFinite(new Date(now + Number(wait)).getTime())).toBe(true);
  });

  property('a wait is never negative', [fc.oneof(fc.string(), fc.integer().map(String))], (value) => {
    expect(parseRetryAfter({ 'retry-after': value }, [now]) ?? 0).toBeGreaterThanOrEqual(0);
  });
});

describe('X-RateLimit-*', () => {
  const all = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '57', 'x-ratelimit-reset': '1768478460' };
  const known = { limit: 60n, remaining: 57n, reset: 1_768_478_460 };
  const largest = '9223372036854775807';

  test.each<[Partial<typeof all>, object | undefined]>([
    [{}, known],
    [{ 'x-ratelimit-limit': largest }, { ...known, limit: BigInt(largest) }],
    [{ 'x-ratelimit-remaining': largest }, { ...known, remaining: BigInt(largest) }],
    // A service that counts what it refuses may go below 0: nothing is left.
    [{ 'x-ratelimit-remaining': '-3' }, { ...known, remaining: 0n }],
    [{ 'x-ratelimit-limit': '-3' }, undefined],
    [{ 'x-ratelimit-reset': '-3' }, undefined],
    [{ 'x-ratelimit-reset': '0' }, { ...known, reset: 0 }],
    [{ 'x-ratelimit-reset': '253402300799' }, { ...known, reset: 253_402_300_799 }],
    // A timestamp in milliseconds is not taken for one in seconds.
    [{ 'x-ratelimit-reset': '1768478460000' }, undefined],
    [{ 'x-ratelimit-reset': '253402300800' }, undefined],
  ])('with %j: %o', (changes, expected) => {
    expect(parseRateLimit({ ...all, ...changes })).toEqual(expected);
  });

  const unreadable = [
    '',
    'many',
    '-',
    '+1',
    '1.0',
    '1e2',
    '60, 60',
    ' 60',
    '６０',
    '99999999999999999999',
    ['60', '60'],
  ];
  test.for([undefined, ...unreadable])('%j makes all three unknown', (value) => {
    for (const name of Object.keys(all)) expect(parseRateLimit({ ...all, [name]: value }), name).toBeUndefined();
  });
});

describe('an HTTP-date', () => {
  test('is read in a zone that is not UTC', () => {
    expect(new Date(now).getTimezoneOffset()).toBe(300);
  });

  test.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29)],
    ['Thursday, 29-Feb-24 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Thu Feb 29 00:00:00 2024', Date.UTC(2024, 1, 29)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59)],
    // A year below 100 is that year.
    ['Sun, 29 Feb 0096 00:00:00 GMT', new Date('0096-02-29T00:00:00Z').getTime()],
    // The hour that New York skips, and the one that it has twice.
    ['Sun, 08 Mar 2026 02:30:00 GMT', Date.UTC(2026, 2, 8, 2, 30)],
    ['Sun Nov  1 01:30:00 2026', Date.UTC(2026, 10, 1, 1, 30)],
    // The day of the week is not checked: it says nothing that the date does not.
    ['Mon, 15 Jan 2026 12:00:20 GMT', now],
    // Two digits are of a year at most 50 years ahead.
    ['Friday, 02-Jan-26 00:00:00 GMT', Date.UTC(2026, 0, 2)],
    ['Friday, 02-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 2)],
    ['Friday, 02-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 2)],
    ['Friday, 02-Jan-00 00:00:00 GMT', Date.UTC(2000, 0, 2)],
  ])('%s', (text, expected) => {
    expect(parseDate({ date: text }, now)).toBe(expected);
  });

  test.for([
    undefined,
    ['Thu, 15 Jan 2026 12:00:20 GMT', 'Thu, 15 Jan 2026 12:00:20 GMT'],
    '',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 EST',
    'sun, 06 nov 1994 08:49:37 gmt',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT ',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    ' Sunday, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT ',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    ' Sun Nov  6 08:49:37 1994',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
    '1994-11-06T08:49:37Z',
    'Wed, 29 Feb 2023 00:00:00 GMT',
    'Mon, 29 Feb 1900 00:00:00 GMT',
    'Thu, 30 Feb 2024 00:00:00 GMT',
    'Fri, 31 Apr 2026 00:00:00 GMT',
    'Thu, 00 Jan 2026 00:00:00 GMT',
    'Thu, 32 Jan 2026 00:00:00 GMT',
    'Thu, 15 Foo 2026 00:00:00 GMT',
    'Thu, 15 Jan 2026 24:00:00 GMT',
    'Thu, 15 Jan 2026 00:60:00 GMT',
    'Thu, 15 Jan 2026 00:00:61 GMT',
    'Thu, 15 Jan 2026 00:00:20 GMT, Thu, 15 Jan 2026 00:00:20 GMT',
    'Thu, 15 Jan ２０２６ 00:00:20 GMT',
  ])('%j is none', (date) => {
    expect(parseDate({ date }, now)).toBeUndefined();
  });

  const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const forms: readonly [string, from: string, to: string, write: (parts: readonly string[], date: Date) => string][] =
    [
      ['IMF-fixdate', '0001-01-01', '9999-12-31', (_parts, date) => date.toUTCString()],
      [
        'RFC 850',
        '1977-01-01',
        '2076-12-31',
        ([, day, month, year = '', time], date) =>
          `${longDays[date.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
      ],
      [
        'asctime',
        '1970-01-01',
        '9999-12-31',
        ([weekday, day, month, year, time]) => `${weekday} ${month} ${day?.replace(/^0/, ' ')} ${time} ${year}`,
      ],
    ];
  for (const [form, from, to, write] of forms) {
    const seconds = fc.integer({ min: Date.parse(from) / 1000, max: Date.parse(`${to}T23:59:59Z`) / 1000 });
    property(`that is written in the form of ${form} is read back`, [seconds], (second) => {
      const date = new Date(second * 1000);
      expect(parseHttpDate(write(date.toUTCString().split(/,? /), date), now)).toBe(date.getTime());
    });
  }
});
