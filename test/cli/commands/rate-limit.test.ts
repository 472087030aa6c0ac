import { describe, expect } from 'vitest';
import { answering } from '../../support/answering.ts';
import { apply, errorJson, openShop, sent, test } from '../../support/shop.ts';

const twoAMinute = { limits: { minute: 2, day: 1000 } };

// A few milliseconds more than the 40 s that are left, since two clocks may drift apart meanwhile.
test('waits for the end of a spent window, says so, and meets no 429', async () => {
  const shop = await openShop(twoAMinute);
  await shop.run('inventory get 1');
  await shop.run('inventory get 1');
  const result = await shop.run('inventory get 1');
  expect(result).toMatchObject({ code: 0, stdout: '1\t12\tavailable\n' });
  expect(result.stderr).toBe(
    'Rate limited: continuing in 41 s (07:01:00). Ctrl-C stops; nothing is lost.\n' +
      'Rate limit: 1 of 2 left, resets in 60 s\n',
  );
  expect(sent(result)).toHaveLength(1);
  expect(shop.service.journal().map(({ status }) => status)).toEqual([200, 200, 200]);
});

describe('longer than --max-wait', () => {
  test('is exit 6 at once, with the time at which it works again, and nothing is sent', async () => {
    const shop = await openShop(twoAMinute);
    await shop.run('inventory get 1');
    await shop.run('inventory get 1');
    const result = await shop.run('inventory get 1 --max-wait 10');
    expect(result).toMatchObject({ code: 6, stdout: '', requests: [] });
    expect(result.stderr).toContain('It works again in 41 s, at 07:01:01.\nHint: petstock limits\n');
    expect(shop.clock.sleeps).toEqual([]);
    const { stderr } = await shop.run('inventory get 1 --max-wait 10 --json');
    expect(errorJson(stderr).error).toMatchObject({ code: 'rate_limited', exitCode: 6, retryAfterSeconds: 41 });
  });
});

describe('a 429', () => {
  test('is waited for, at least as long as Retry-After says', async () => {
    const shop = await openShop({ faults: ['GET /inventory:first=1:status=429:retry-after=30'] });
    const before = shop.clock.now();
    const result = await shop.run('inventory get 1');
    expect(result.code).toBe(0);
    expect(sent(result)).toHaveLength(2);
    expect(shop.clock.now() - before).toBeGreaterThanOrEqual(30_000);
  });

  test('gates the next command, which sends nothing and exits 6', async () => {
    const shop = await openShop({ faults: ['GET /inventory:first=1:status=429:retry-after=3600'] });
    expect(await shop.run('inventory get 1')).toMatchObject({ code: 6 });
    expect(await shop.run('inventory set 1 5')).toMatchObject({ code: 6, requests: [] });
    expect(await shop.run('status')).toMatchObject({ code: 6, requests: [] });
    // Another key is another matter.
    const other = await shop.run('inventory get 1', { env: { PETSTOCK_API_KEY_STAGING: 'psk_somebody' } });
    expect(other.code).toBe(4);
    expect(sent(other)).toHaveLength(1);
    shop.clock.advance(3700_000);
    expect(await shop.run('inventory get 1')).toMatchObject({ code: 0 });
  });

  test('of a 503 is a wait for the service, not for the rate limit', async () => {
    const shop = await openShop({ faults: ['*:first=1:status=503:retry-after=9'] });
    expect((await shop.run('inventory get 1')).stderr).toMatch(
      /^The service is unavailable: continuing in (9|10) s \(/m,
    );
  });

  test('that asks for less than the window has left is waited for until the window ends', async ({ shop }) => {
    const now = Math.floor(shop.clock.now() / 1000);
    const url = await answering(429, '{"code":"slow_down","message":"Too many.","status":429}', {
      date: new Date(now * 1000).toUTCString(),
      'retry-after': '2',
      'x-ratelimit-limit': '4',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': `${now + 40}`,
    });
    const env = { PETSTOCK_URL_STAGING: url };
    const short = await shop.run('inventory get 1 --max-wait 20 --json', { env });
    expect(short.code).toBe(6);
    expect(errorJson(short.stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(40);
    expect(shop.clock.sleeps).toEqual([]);
    const long = await shop.run('inventory get 1', { env });
    expect(long.stderr).toMatch(/^Rate limited: continuing in 4[0-2] s /);
  });

  // A clock is wrong then, or the value is none: 120 s after a clock that is a day behind, or seconds in place of a time.
  test.each<[string, (now: number) => Record<string, string>]>([
    ['Retry-After', (now) => ({ 'retry-after': new Date(now - 86_280_000).toUTCString() })],
    [
      'X-RateLimit-Reset',
      () => ({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '300' }),
    ],
  ])('whose %s has passed already is waited for a minute', async (_name, headersAt) => {
    const shop = await openShop();
    const url = await answering(
      429,
      '{"code":"slow_down","message":"Too many.","status":429}',
      headersAt(shop.clock.now()),
    );
    const { code, stderr } = await shop.run('inventory get 1 --max-wait 20 --json', {
      env: { PETSTOCK_URL_STAGING: url },
    });
    expect(code).toBe(6);
    expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(60);
  });

  test('three in a row end the command with exit 6', async () => {
    const shop = await openShop({ faults: ['GET /inventory:status=429:retry-after=1'] });
    const result = await shop.run('inventory get 1');
    expect(result.code).toBe(6);
    expect(sent(result)).toHaveLength(3);
  });
});

describe('a bulk run under a small limit', () => {
  const csv = 'petId,delta\n4,+1\n5,+1\n6,+1\n';

  test.each([
    // A look after each wait, and something is written behind it: also where a window has room for one of both.
    [1, 'GET GET PATCH GET PATCH GET PATCH'],
    [2, 'GET PATCH GET PATCH GET PATCH'],
    [4, 'GET PATCH PATCH GET PATCH'],
    [5, 'GET PATCH PATCH PATCH'],
  ])('of %i a minute comes to its end', async (minute, requests) => {
    const shop = await openShop({ limits: { minute, day: 1000 } });
    const result = await apply(shop, csv);
    expect(result).toMatchObject({ code: 0, report: { counts: { applied: 3 } } });
    expect(result.requests.map(({ method }) => method).join(' ')).toBe(requests);
  });
});

test('on a terminal, a service that takes more than a second is said to be waited for', async ({ shop }) => {
  const onSent = () => shop.clock.expireDeadlines(1000);
  const result = await shop.run('inventory get 4', { terminal: 100, onSent });
  expect(result.stderr).toContain(`Waiting for ${new URL(shop.service.url).origin} to answer GET /inventory`);
  const elsewhere = await shop.run('inventory get 4', { onSent });
  expect(elsewhere.stderr).not.toContain('Waiting for');
  expect((await shop.run('inventory get 4 --quiet', { terminal: 100, onSent })).stderr).toBe('');
});

test('a retry names the request, the status, and the words of the service in quotes', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=1:status=503'] });
  const { code, stderr } = await shop.run('inventory get 4');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^GET \/inventory: the service answered 503, trying again \(1 of \d\)\.$/m);
});

test('a retry of a write names the pet', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:first=1:status=503'] });
  const { code, stderr } = await shop.run('inventory set 4 12');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Pet 4: the service answered 503 \(".+"\); .+\.$/m);
});

test('at 60 columns the line about a retry of a write keeps its cause', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:first=1:status=503'] });
  const { stderr } = await shop.run('inventory set 4 12', { terminal: 60 });
  expect(stderr).toMatch(/Pet 4: the service answered 503 \("\S.*…; reading its stock/);
});
