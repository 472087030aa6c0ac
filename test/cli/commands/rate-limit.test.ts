import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { createTestClock } from '../../support/clock.ts';
import { answers } from '../../support/scripted-service.ts';
import {
  apply,
  confirming,
  errorJson,
  openShop,
  openShopAnswering,
  type Shop,
  type ShopOptions,
} from '../../support/shop.ts';
import { test } from '../../support/till.ts';

const twoAMinute = { limits: { minute: 2, day: 1000 } };

test('waits for the end of a used-up window, or exits with 6 if --max-wait is shorter', async () => {
  const shop = await openShop(twoAMinute);
  for (const _request of [1, 2]) await shop.run('inventory get 1');
  const said = 'Requests are possible again in 41 s, at 07:01:01.\nHint: petstock limits\n';
  expect(await shop.exits('inventory get 1 --max-wait 10', 6, said)).toMatchObject({ stdout: '', requests: [] });
  const { stderr } = await shop.run('inventory get 1 --max-wait 10 --json');
  expect(errorJson(stderr).error).toMatchObject({ code: 'rate_limited', exitCode: 6, retryAfterSeconds: 41 });
  expect(shop.clock.sleeps).toEqual([]);
  const result = await shop.run('inventory get 1');
  expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1\t12\tavailable\b/) });
  expect(result.stderr).toMatch(/^Rate limited: .* 41 s \(07:01:00\).*\nRate limit: 1 of 2 left, .*\n$/);
  expect(result.sent).toHaveLength(1);
  expect(shop.service.journal().map(({ status }) => status)).toEqual([200, 200, 200]);
});

describe('a 429', () => {
  test('exits with 6 and sends nothing in the next command after a 429', async () => {
    const shop = await openShop({ faults: ['GET /inventory:first=1:status=429:retry-after=3600'] });
    await shop.exits('inventory get 1', 6);
    for (const command of ['inventory set 1 5', 'status']) expect((await shop.exits(command, 6)).requests).toEqual([]);
    const env = { PETSTOCK_API_KEY_STAGING: 'psk_somebody' };
    expect((await shop.exits('inventory get 1', 4, [], { env })).sent).toHaveLength(1);
    shop.clock.advance(3700_000);
    await shop.exits('inventory get 1', 0);
  });

  test('reports a wait for the service, and not for the rate limit, after a 503', async () => {
    const shop = await openShop({ faults: ['*:first=1:status=503:retry-after=9'] });
    await shop.exits('inventory get 1', 0, /^Waiting for the service: continuing in (9|10) s \(/m);
  });

  test('waits until the window ends after a 429 with a shorter Retry-After', async () => {
    const now = createTestClock().now() / 1000;
    const shop = await openShopAnswering(429, '{"code":"slow_down","message":"Too many.","status":429}', {
      date: new Date(now * 1000).toUTCString(),
      'retry-after': '2',
      'x-ratelimit-limit': '4',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': `${now + 40}`,
    });
    const { stderr } = await shop.exits('inventory get 1 --max-wait 20 --json', 6);
    expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(40);
    expect(shop.clock.sleeps).toEqual([]);
    expect((await shop.run('inventory get 1')).stderr).toMatch(/^Rate limited: continuing in 4[0-2] s /);
  });

  // The clock of the service is a day behind, or the value is in seconds from now instead of a time.
  test.for([
    ['Retry-After', { 'retry-after': 'Wed, 14 Jan 2026 12:02:20 GMT' }],
    ['X-RateLimit-Reset', { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '300' }],
  ] as const)('waits a minute after a 429 whose %s has already passed', async ([_name, headers]) => {
    const shop = await openShopAnswering(429, '{"code":"slow_down","message":"Too many.","status":429}', headers);
    const { stderr } = await shop.exits('inventory get 1 --max-wait 20 --json', 6);
    expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(60);
  });

  test.for([
    ['with Retry-After in seconds', { 'Retry-After': '120' }],
    ['with Retry-After and Date an hour ahead', { until: 120_000 + 3_600_000, ahead: 3_600_000 }],
    ['with Retry-After and Date an hour behind', { until: 120_000 - 3_600_000, ahead: -3_600_000 }],
  ] as const)('blocks the key for at least 120 s after a 429 %s', async ([_what, how], { till }) => {
    const dateIn = (ms: number) => new Date(till.clock.now() + ms).toUTCString();
    const headers = 'until' in how ? { 'Retry-After': dateIn(how.until), Date: dateIn(how.ahead) } : how;
    till.service.next('PATCH', answers(429, headers));
    await till.exits('inventory set 1 5 --max-wait 1', 6);
    const { stderr } = await till.exits('inventory set 1 5 --json --max-wait 1', 6);
    expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(120);
    till.clock.advance(119_000);
    await till.exits('inventory set 1 5 --max-wait 0', 6);
    expect(till.service.seen('PATCH')).toHaveLength(1);
  });

  test('exits with 6 after three 429s in a row', async () => {
    const shop = await openShop({ faults: ['GET /inventory:status=429:retry-after=1'] });
    expect((await shop.exits('inventory get 1', 6)).sent).toHaveLength(3);
  });
});

test.for([
  // A read after each wait is followed by a write, even if a window has room for only one of them.
  [1, 'GET GET PATCH GET PATCH GET PATCH'],
  [4, 'GET PATCH PATCH GET PATCH'],
] as const)('finishes a bulk run under a limit of %i per minute', async ([minute, requests]) => {
  const shop = await openShop({ limits: { minute, day: 1000 } });
  const result = await apply(shop, 'petId,delta\n4,+1\n5,+1\n6,+1\n');
  expect(result).toMatchObject({ code: 0, report: { counts: { applied: 3 } } });
  expect(result.requests.map(({ method }) => method).join(' ')).toBe(requests);
});

test('reports the wait on a terminal if the service takes more than a second', async ({ shop }) => {
  const onSent = () => shop.clock.expireDeadlines(1000);
  const said = `Waiting for ${new URL(shop.service.url).origin} to respond to GET /inventory`;
  await shop.exits('inventory get 4', 0, said, { terminal: 100, onSent });
  expect((await shop.run('inventory get 4', { onSent })).stderr).not.toContain('Waiting for');
  expect((await shop.run('inventory get 4 --quiet', { terminal: 100, onSent })).stderr).toBe('');
});

test.for([
  [
    'get 4',
    'without a terminal',
    undefined,
    'GET /inventory',
    /^GET \/inventory: the service returned 503, trying again \(1 of \d\)\.$/m,
  ],
  [
    'set 4 12',
    'without a terminal',
    undefined,
    'PATCH /inventory/*',
    /^Pet 4: the service returned 503 \(".+"\); .+\.$/m,
  ],
  [
    'set 4 12',
    'on a terminal',
    60,
    'PATCH /inventory/*',
    /Pet 4: the service returned 503 \("\S.*…; reading the stock/,
  ],
] as const)('reports why it retries a request of inventory %s %s', async ([command, , terminal, request, said]) => {
  const shop = await openShop({ faults: [`${request}:first=1:status=503`] });
  await shop.exits(`inventory ${command}`, 0, said, { terminal });
});

/** Opens a shop that has sent one request. */
async function asked(options: ShopOptions = twoAMinute): Promise<Shop> {
  const shop = await openShop(options);
  await shop.run('inventory get 1');
  return shop;
}

const gated = (seconds: string, status = 429) => ({
  faults: [`GET /inventory:first=1:status=${status}:retry-after=${seconds}`],
});

describe('limits', () => {
  test('limits shows the last known values without a request, and only the limit of an ended window', async () => {
    const shop = await asked();
    const { code, stdout, requests } = await shop.run('limits --json');
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    const names = { env: 'staging', store: null, key: `…${shop.service.key.slice(-4)}`, window: 'minute' };
    const times = { resetAt: '2026-01-15T12:01:00.000Z', asOf: '2026-01-15T12:00:20.000Z' };
    expect(JSON.parse(stdout)).toEqual([{ ...names, limit: 2, remaining: 1, ...times, gate: null }]);
    shop.clock.advance(42_000);
    const over = { ...names, limit: 2, remaining: null, ...times, gate: null };
    expect(await shop.json('limits --json')).toEqual([over]);
    const table = await shop.run('limits', { terminal: 100 });
    expect(table.stdout).toMatch(/ minute +2 +ended at 07:01:00 +07:00:20\n/);
    expect(table.stderr).toBe('');
    await shop.exits('limits clear --yes', 0, 'staging: a limit of 2, in a window that ended at 07:01:00');
    expect(await shop.json('limits --json')).toEqual([]);
  });

  test.each([
    [429, /^staging: after a 429 nothing is sent before 08:00:2\d\.$/m],
    [503, /^staging: while the service is unavailable nothing is sent before 0\d:00:2\d\.$/m],
  ])('limits shows the wait after a %i', async (status, words) => {
    const shop = await asked(gated('3600', status));
    await shop.exits('limits', 0, words);
    await shop.exits('inventory get 1 --max-wait 0', status === 429 ? 6 : 5);
    await shop.exits('limits clear', 2, 'nothing is sent before', {
      prompts: { confirm: async () => false },
      terminal: 100,
    });
    // A clock that is set back neither lifts the gate nor extends it beyond its length from now.
    shop.clock.step(-96 * 3_600_000);
    await shop.exits('inventory get 1 --max-wait 0', status === 429 ? 6 : 5);
    await shop.exits('limits', 0, words);
    shop.clock.advance(4000_000);
    expect((await shop.run('limits')).stderr).not.toContain('nothing is sent');
  });

  test('limits shows a wait even if no limits are known or the state is removed', async () => {
    const shop = await openShop(gated('3600'));
    await shop.run('inventory get 1 --max-wait 0');
    shop.clock.advance(120_000);
    const gate = expect.stringMatching(/^2026-01-15T13:00:2\d/);
    const names = { env: 'staging', store: null, key: expect.any(String), window: null };
    const row = { ...names, limit: null, remaining: null, resetAt: null, asOf: null, gate };
    expect(JSON.parse((await shop.run('limits --json')).stdout)).toEqual([expect.objectContaining({ gate })]);
    for (const end of ['', '-wal', '-shm']) await rm(join(shop.folders.state, `state.db${end}`), { force: true });
    expect(await shop.json('limits --json')).toEqual([row]);
    // This creates a state without the gate.
    await shop.exits('inventory set 1 5 --max-wait 0', 6);
    expect(await shop.json('limits --json')).toEqual([row]);
    await shop.exits('limits clear --yes', 0, 'Cleared');
    expect(await shop.json('limits --json')).toEqual([]);
    await shop.exits('inventory get 1', 0);
  });

  test('limits leaves out a wait of another configuration, and limits clear names and keeps it', async () => {
    const shop = await openShop(gated('3600'));
    await shop.run('inventory get 1 --max-wait 0');
    const env = { PETSTOCK_API_KEY_STAGING: 'psk_third_87654321' };
    expect(JSON.parse((await shop.run('limits --json', { env })).stdout)).toEqual([]);
    expect((await shop.run('limits', { env })).stderr).not.toContain('429');
    await shop.exits('limits clear --yes', 0, [/another configuration: #[0-9a-f]{8}\./, 'nothing to clear'], { env });
    expect((await shop.run('inventory get 1 --max-wait 0')).requests).toEqual([]);
    await shop.exits('limits clear --yes', 0, 'Cleared');
    await shop.exits('inventory get 1', 0);
  });

  test('finds the limits of a key that a key command prints', async () => {
    const shop = await openShop(gated('3600'));
    const key = `${process.execPath} -p "'${shop.service.key}'"`;
    await shop.exits(['config', 'set-key', '--command', key], 0);
    const env = { PETSTOCK_API_KEY_STAGING: '' };
    await shop.exits('inventory get 1 --max-wait 0', 6, [], { env });
    expect(JSON.parse((await shop.run('limits --json', { env })).stdout)).toMatchObject([
      { env: 'staging', key: expect.stringMatching(/^#[0-9a-f]{8}$/) },
    ]);
    await shop.exits('limits clear --yes', 0, 'Cleared', { env });
  });

  test('limits --refresh sends one request', async ({ shop }) => {
    const result = await shop.run('limits --refresh --json');
    expect(result.sent).toEqual(['GET /v1/inventory']);
    expect(JSON.parse(result.stdout)).toMatchObject([{ env: 'staging', limit: 1000, remaining: 999 }]);
  });

  test('limits reports once that no limits are known', async ({ till }) => {
    const stderr = 'No limits are known yet. The service reports them with its next response.\n';
    expect(await till.run('limits', { terminal: 100 })).toMatchObject({ code: 0, stdout: '', stderr });
    till.service.next('GET', answers(200, { 'X-RateLimit-Limit': 'none' }, '[]'));
    await till.exits('limits --refresh', 0, 'No limits are known yet. The service did not report any.');
  });

  test('limits leaves out a key of another configuration, and filters by --env', async () => {
    const shop = await asked();
    shop.clock.advance(1000);
    const { url } = shop.service;
    const north = { PETSTOCK_NORTH_URL_STAGING: url, PETSTOCK_NORTH_API_KEY_STAGING: 'psk_north_12340000' };
    const keys = { PETSTOCK_URL_PRODUCTION: url, PETSTOCK_API_KEY_PRODUCTION: 'psk_other_12345678', ...north };
    const other = { PETSTOCK_API_KEY_STAGING: 'psk_third_87654321' };
    await shop.run('inventory get 1', { env: other });
    for (const at of ['--env production', '--store north']) await shop.run(`inventory get 1 ${at}`, { env: keys });
    const rows = async (flags: string) => {
      const { stdout } = await shop.run(`limits -o table --no-header ${flags}`.trim(), { env: keys });
      return stdout.match(/^\S+ +\S+/gm)?.map((line) => line.replace(/ +/, ' ')) ?? [];
    };
    const own = `staging …${shop.service.key.slice(-4)}`;
    expect(await rows('--env staging --store default')).toEqual([own]);
    expect(await rows('--env production')).toEqual(['production …5678']);
    expect(await rows('')).toEqual(['north/staging …0000', 'production …5678', own]);
    expect(await rows('--env sandbox')).toEqual([]);
  });
});

describe('limits clear', () => {
  test('limits clear prints and removes a wait', async () => {
    const shop = await openShop(gated('9999999999'));
    await shop.exits('inventory get 1', 6, 'petstock waits at most 32 days. To clear the wait: petstock limits clear');
    const { stdout, requests } = await shop.exits('limits clear --yes', 0, [
      /^staging: after a 429 nothing is sent before 2026-02-16 07:00:2\d; 999 of 1000 left/m,
      'Cleared the known limits of staging.',
    ]);
    expect({ stdout, requests }).toEqual({ stdout: '', requests: [] });
    await shop.exits('inventory get 1', 0);
  });

  test('limits clear keeps the limits of other environments, and all limits if the answer is no', async () => {
    const shop = await asked();
    const result = await shop.run('limits clear --env production --yes');
    expect(result).toMatchObject({ code: 0, stderr: 'There is nothing to clear for production of all stores.\n' });
    const { asked: questions, prompts } = confirming(false, true);
    await shop.exits('limits clear', 2, [], { terminal: 80, prompts });
    expect((await shop.run('limits --json')).stdout).toContain('"remaining":1');
    await shop.exits('limits clear --quiet', 0, 'staging: 1 of 2 left until 07:01:00', { terminal: 80, prompts });
    expect(questions).toEqual(
      Array(2).fill('Clear these limits? If the service is called too early, it may ban the key.'),
    );
    expect(await shop.run('limits --json')).toMatchObject({ stdout: '[]\n' });
  });
});
