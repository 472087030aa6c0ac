import { describe, expect, test } from 'vitest';
import { parseDate, parseHttpDate, parseRateLimit, parseRetryAfter } from '../../src/rate-limit/headers.ts';
import fc, { property } from '../support/properties.ts';

const now = Date.UTC(2026, 0, 15, 12, 0, 20);

describe('Retry-After', () => {
  const none = [undefined, '', ',', []];
  // What can't be read, and a date in the past, count as 60 s; a number of any other form at least as itself.
  const aMinute = [
    ...['60', ' 60 ', '-1', '1.5', '0x10', '６０', 'soon', 'Infinity', '60, soon', '1m30s', 'PT2H', '00:02:00'],
    ...['10 minutes', '2026-01-15T12:02:20Z', 'Thu, 30 Feb 2026 12:01:20 GMT', 'Thu, 15 Jan 2026 12:02:20 UTC'],
    ...[['garbage', '60'], ['', 'soon'], 'Thu, 15 Jan 2026 11:59:20 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT'],
  ];
  const dates = ['Thu, 15 Jan 2026 12:01:20 GMT', 'Thursday, 15-Jan-26 12:01:20 GMT', 'Thu Jan 15 12:01:20 2026'];
  const twoMinutes = [
    ...['120.0', '+120', '1.2e2', '120, 120', ['60', '120'], ['120', '60'], ['60', 'Thu, 15 Jan 2026 12:02:20 GMT']],
    'Thu, 15 Jan 2026 12:02:20 GMT, Thu, 15 Jan 2026 12:00:20 GMT',
  ];

  test.each<[string | string[] | undefined, number | undefined]>([
    ...none.map((value): [typeof value, undefined] => [value, undefined]),
    ...[...aMinute, ...dates].map((value): [typeof value, number] => [value, 60_000]),
    ...twoMinutes.map((value): [typeof value, number] => [value, 120_000]),
    ['0', 0],
    ['Thu, 15 Jan 2026 12:00:20 GMT', 0],
    ['007', 7000],
    ['50400', 50_400_000],
    ['9999999999', 9_999_999_999_000],
    // A proxy has joined two values.
    ['Wed, 21 Oct 2015 07:28:00 GMT, 3600', 3_600_000],
    ['30,300', 300_000],
    ['90, soon', 90_000],
  ])('reads Retry-After %j as %j ms', (value, expected) => {
    expect(parseRetryAfter({ 'retry-after': value }, now)).toBe(expected);
  });

  property(
    'limits Retry-After to a wait that a Date can hold, however long the number is',
    [fc.integer({ min: 1, max: 400 })],
    (length) => {
      const wait = parseRetryAfter({ 'retry-after': '9'.repeat(length) }, now);
      expect(Number.isFinite(new Date(now + Number(wait)).getTime())).toBe(true);
    },
  );

  property('never reads Retry-After as a negative wait', [fc.oneof(fc.string(), fc.integer().map(String))], (value) => {
    expect(parseRetryAfter({ 'retry-after': value }, now) ?? 0).toBeGreaterThanOrEqual(0);
  });
});

describe('X-RateLimit-*', () => {
  const all = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '57', 'x-ratelimit-reset': '1768478460' };
  const known = { limit: 60, remaining: 57, reset: 1_768_478_460_000 };

  test.each<[Partial<typeof all>, object | undefined]>([
    [{}, known],
    [{ 'x-ratelimit-remaining': '9223372036854775807' }, { ...known, remaining: 2 ** 63 }],
    // A service that also counts refused requests may report a negative number; nothing is left then.
    [{ 'x-ratelimit-remaining': '-3' }, { ...known, remaining: 0 }],
    [{ 'x-ratelimit-limit': '-3' }, undefined],
    [{ 'x-ratelimit-reset': '-3' }, undefined],
    [{ 'x-ratelimit-reset': '0' }, { ...known, reset: 0 }],
    [{ 'x-ratelimit-reset': '253402300799' }, { ...known, reset: 253_402_300_799_000 }],
    // A timestamp in milliseconds is not mistaken for one in seconds.
    [{ 'x-ratelimit-reset': '253402300800' }, undefined],
  ])('reads X-RateLimit headers with %j as %o', (changes, expected) => {
    expect(parseRateLimit({ ...all, ...changes })).toEqual(expected);
  });

  const unreadable = ['', '-', '+1', '1.0', '1e2', '60, 60', ' 60', '６０', '99999999999999999999', ['60', '60']];
  test.for([undefined, ...unreadable])('ignores the X-RateLimit headers if one is %j', (value) => {
    for (const name of Object.keys(all)) expect(parseRateLimit({ ...all, [name]: value }), name).toBeUndefined();
  });
});

describe('parseDate', () => {
  test('runs these tests in a time zone other than UTC', () => {
    expect(new Date(now).getTimezoneOffset()).toBe(300);
  });

  test.each([
    // New York skips the first hour, and has the second one twice.
    ['Sun, 08 Mar 2026 02:30:00 GMT', Date.UTC(2026, 2, 8, 2, 30)],
    ['Sun Nov  1 01:30:00 2026', Date.UTC(2026, 10, 1, 1, 30)],
    // The day of the week is not checked.
    ['Mon, 15 Jan 2026 12:00:20 GMT', now],
    // A leap second counts as the next second.
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    // A two-digit year is at most 50 years ahead.
    ['Friday, 02-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 2)],
    ['Friday, 02-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 2)],
  ])('parses the date %s', (text, expected) => {
    expect(parseDate({ date: text }, now)).toBe(expected);
  });

  const good = 'Thu, 15 Jan 2026 12:00:20 GMT';
  const faults = [
    ['GMT', 'EST'],
    ['Thu', 'thu'],
    ['15', '5'],
    ['2026', '26'],
    ['2026', '２０２６'],
    ['12:', '24:'],
    [':00', ':60'],
    [':20', ':61'],
    ['Jan', 'Foo'],
    ['15', '00'],
    ['15', '32'],
    ['15 Jan', '31 Apr'],
    ['15 Jan', '29 Feb'],
    [good, ` ${good}`],
    [good, `${good} `],
    [good, `${good}, ${good}`],
    [good, ''],
    [good, '2026-01-15T12:00:20Z'],
    [good, 'Thursday, 15-Jan-2026 12:00:20 GMT'],
    [good, 'Thu Jan 5 12:00:20 2026'],
    [good, ' Thu Jan 15 12:00:20 2026'],
    [good, 'Thu Jan 15 12:00:20 2026 GMT'],
    [good, 'Thursday, 15-Jan-26 12:00:20 GMT '],
  ] as const;
  test.for(faults)('rejects a date with %j replaced by %j', ([from, to]) => {
    expect(parseDate({ date: good.replace(from, to) }, now)).toBeUndefined();
    expect(parseDate({ date: [good, good] }, now)).toBeUndefined();
  });

  const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  type Writer = (parts: readonly string[], date: Date) => string;
  const forms: readonly [string, from: string, to: string, write: Writer][] = [
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
    property(`reads back a date in the form of ${form}`, [seconds], (second) => {
      const date = new Date(second * 1000);
      expect(parseHttpDate(write(date.toUTCString().split(/,? /), date), now)).toBe(date.getTime());
    });
  }
});
