import { describe, expect, test } from 'vitest';
import { parseDate, parseRateLimit, parseRetryAfter } from '../../src/rate-limit/headers.ts';
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

  test('all three', () => {
    expect(parseRateLimit(all)).toEqual({ limit: 60n, remaining: 57n, reset: 1_768_478_460 });
  });

  test('figures of 19 digits keep each of them', () => {
    const limit = '9223372036854775807';
    expect(parseRateLimit({ ...all, 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': limit })).toMatchObject({
      limit: 9223372036854775807n,
      remaining: 9223372036854775807n,
    });
  });

  describe.each(Object.keys(all))('%s', (name) => {
    test.each([
      [undefined],
      [''],
      ['many'],
      ['-'],
      ['+1'],
      ['1.0'],
      ['1e2'],
      ['60, 60'],
      [' 60'],
      ['６０'],
      ['99999999999999999999'],
      [['60', '60']],
    ])('%j makes all three unknown', (value) => {
      expect(parseRateLimit({ ...all, [name]: value })).toBeUndefined();
    });
  });

  test('a service that counts what it refuses may go below 0: nothing is left', () => {
    expect(parseRateLimit({ ...all, 'x-ratelimit-remaining': '-3' })).toMatchObject({ remaining: 0n });
    expect(parseRateLimit({ ...all, 'x-ratelimit-limit': '-3' })).toBeUndefined();
    expect(parseRateLimit({ ...all, 'x-ratelimit-reset': '-3' })).toBeUndefined();
  });

  test.each([
    ['0', 0],
    ['253402300799', 253_402_300_799],
    // A timestamp in milliseconds is not taken for one in seconds.
    ['1768478460000', undefined],
    ['253402300800', undefined],
  ])('reset %s', (reset, expected) => {
    expect(parseRateLimit({ ...all, 'x-ratelimit-reset': reset })?.reset).toBe(expected);
  });
});

test.each<[string | string[] | undefined, number | undefined]>([
  ['Thu, 15 Jan 2026 12:00:20 GMT', now],
  ['Thursday, 15-Jan-26 12:00:20 GMT', now],
  ['Thu Jan 15 12:00:20 2026', now],
  ['2026-01-15T12:00:20Z', undefined],
  ['', undefined],
  [['Thu, 15 Jan 2026 12:00:20 GMT', 'Thu, 15 Jan 2026 12:00:20 GMT'], undefined],
  [undefined, undefined],
])('Date: %j', (date, expected) => {
  expect(parseDate({ date }, now)).toBe(expected);
});
