import { describe, expect, test } from 'vitest';
import { parseHttpDate } from '../../src/rate-limit/headers.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const now = Date.UTC(2026, 0, 15, 12, 0, 20);
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

test('the zone of these tests is not UTC', () => {
  expect(new Date(now).getTimezoneOffset()).toBe(300);
});

test.each([
  ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
  ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
  ['asctime', 'Sun Nov  6 08:49:37 1994'],
])('the three forms, each as UTC: %s', (_form, text) => {
  expect(parseHttpDate(text, now)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
});

describe('the calendar', () => {
  test.each([
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29)],
    ['Thursday, 29-Feb-24 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Thu Feb 29 00:00:00 2024', Date.UTC(2024, 1, 29)],
    ['Thu, 31 Dec 2026 23:59:59 GMT', Date.UTC(2026, 11, 31, 23, 59, 59)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59)],
    // The hour that New York skips, and the one that it has twice.
    ['Sun, 08 Mar 2026 02:30:00 GMT', Date.UTC(2026, 2, 8, 2, 30)],
    ['Sun Nov  1 01:30:00 2026', Date.UTC(2026, 10, 1, 1, 30)],
    // The day of the week is not checked: it says nothing that the date does not.
    ['Mon, 15 Jan 2026 12:00:20 GMT', now],
  ])('%s', (text, expected) => {
    expect(parseHttpDate(text, now)).toBe(expected);
  });

  test('a year below 100 is that year', () => {
    expect(new Date(parseHttpDate('Sun, 29 Feb 0096 00:00:00 GMT', now) ?? 0).getUTCFullYear()).toBe(96);
  });
});

test.each([
  ['26', 2026],
  ['27', 2027],
  ['75', 2075],
  ['76', 2076],
  ['77', 1977],
  ['99', 1999],
  ['00', 2000],
])('two-digit years %s in 2026 is %i', (digits, year) => {
  const ms = parseHttpDate(`Friday, 02-Jan-${digits} 00:00:00 GMT`, now);
  expect(ms).toBe(Date.UTC(year, 0, 2));
});

test.each([
  '',
  ' ',
  '60',
  'garbage',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37 EST',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'sun, 06 nov 1994 08:49:37 gmt',
  ' Sun, 06 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 GMT ',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 94 08:49:37 GMT',
  'Sunday, 06-Nov-1994 08:49:37 GMT',
  'Sun Nov 6 08:49:37 1994',
  'Sun Nov  6 08:49:37 1994 GMT',
  '1994-11-06T08:49:37Z',
  '1994-11-06',
  '784111777',
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
])('%j is no date', (text) => {
  expect(parseHttpDate(text, now)).toBeUndefined();
});

describe('what is written is read back', () => {
  const two = (value: number) => String(value).padStart(2, '0');
  const time = (date: Date) => date.toUTCString().slice(17, 25);
  const seconds = (from: number, to: number) =>
    fc.integer({ min: from / 1000, max: to / 1000 }).map((s) => new Date(s * 1000));

  property('IMF-fixdate, of the years 0 to 9999', [seconds(-62_167_219_200_000, 253_402_300_799_000)], (date) => {
    // The year 0 is a leap year for `Date`, and none that an answer of a service could name.
    fc.pre(date.getUTCFullYear() > 0);
    expect(parseHttpDate(date.toUTCString(), now)).toBe(date.getTime());
  });

  property('RFC 850, 50 years around now', [seconds(Date.UTC(1977, 0, 1), Date.UTC(2076, 11, 31))], (date) => {
    const month = months[date.getUTCMonth()];
    const text = `${longDays[date.getUTCDay()]}, ${two(date.getUTCDate())}-${month}-${two(date.getUTCFullYear() % 100)}`;
    expect(parseHttpDate(`${text} ${time(date)} GMT`, now)).toBe(date.getTime());
  });

  property('asctime', [seconds(0, 253_402_300_799_000)], (date) => {
    const day = String(date.getUTCDate()).padStart(2, ' ');
    const text = `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${day} ${time(date)} ${date.getUTCFullYear()}`;
    expect(parseHttpDate(text, now)).toBe(date.getTime());
  });
});
