import { describe, expect } from 'vitest';
import { confirming, openShop, sent, test } from '../../support/shop.ts';

const twoAMinute = { limits: { minute: 2, day: 1000 } };
const gated = (seconds: string, status = 429) => ({
  faults: [`GET /inventory:first=1:status=${status}:retry-after=${seconds}`],
});

describe('limits', () => {
  test('shows what the last answer said, without a request', async () => {
    const shop = await openShop(twoAMinute);
    await shop.run('inventory get 1');
    const { code, stdout, requests } = await shop.run('limits --json');
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    expect(JSON.parse(stdout)).toEqual([
      {
        env: 'staging',
        limit: 2,
        remaining: 1,
        resetAt: '2026-01-15T12:01:00.000Z',
        asOf: '2026-01-15T12:00:20.000Z',
      },
    ]);
  });

  test('says that of a window that is over no more', async () => {
    const shop = await openShop(twoAMinute);
    await shop.run('inventory get 1');
    shop.clock.advance(42_000);
    expect(await shop.run('limits --json')).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  test.each([
    [429, /^staging: after a 429 nothing is sent before 08:00:2\d\.$/m],
    [503, /^staging: while the service is unavailable nothing is sent before 0\d:00:2\d\.$/m],
  ])('names the gate of a %i', async (status, words) => {
    const shop = await openShop(gated('3600', status));
    await shop.run('inventory get 1');
    expect((await shop.run('limits')).stderr).toMatch(words);
    shop.clock.advance(3700_000);
    expect((await shop.run('limits')).stderr).not.toContain('nothing is sent');
  });

  test('--refresh spends one request', async ({ shop }) => {
    const result = await shop.run('limits --refresh --json');
    expect(sent(result)).toEqual(['GET /v1/inventory']);
    expect(JSON.parse(result.stdout)).toMatchObject([{ env: 'staging', limit: 1000, remaining: 999 }]);
  });

  test('a terminal shows how full each window is', async () => {
    const shop = await openShop({ limits: { minute: 4, day: 2000 } });
    for (let request = 0; request < 3; request += 1) await shop.run('inventory get 1');
    const { stdout } = await shop.run('limits --color never', { terminal: 80 });
    expect(stdout.replace(/…\w{4}/, '…key4')).toBe(
      'Environment  Key    Window  Limit  Left  Used              Resets at  As of\n' +
        'staging      …key4  minute      4     1   75%  ███████░░░  07:01:00   07:00:20\n',
    );
    expect((await shop.run('limits --color always', { terminal: 80 })).stdout).toContain('\x1b[32m█');
  });

  test('where none is known that is said once', async ({ shop }) => {
    const { code, stdout, stderr } = await shop.run('limits', { terminal: 100 });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('No limits are known: the service states them with its next answer.\n');
  });

  test('two keys of one environment are told apart, and --env chooses', async () => {
    const shop = await openShop(twoAMinute);
    await shop.run('inventory get 1');
    shop.clock.advance(1000);
    const production = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: 'psk_other_12345678' };
    const other = { PETSTOCK_API_KEY_STAGING: 'psk_third_87654321' };
    await shop.run('inventory get 1', { env: other });
    await shop.run('inventory get 1 --env production', { env: production });
    const rows = async (command: string) =>
      (await shop.run(`${command} -o table --no-header`, { env: production })).stdout
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split(/ +/).slice(0, 2));
    const own = `…${shop.service.key.slice(-4)}`;
    const stranger = ['staging', expect.stringMatching(/^#[0-9a-f]{8}$/)];
    expect(await rows('limits --env staging')).toEqual([stranger, ['staging', own]]);
    expect(await rows('limits --env production')).toEqual([['production', '…5678']]);
    expect((await rows('limits')).map(([env]) => env)).toEqual(['production', 'staging', 'staging']);
    expect(await rows('limits --env sandbox')).toEqual([]);
  });
});

describe('limits clear', () => {
  test('forgets a gate, and says what it has forgotten', async () => {
    const shop = await openShop(gated('9999999999'));
    const refused = await shop.run('inventory get 1');
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.stderr).toContain('petstock waits at most 32 days; `petstock limits clear` forgets it.');
    const { code, stdout, stderr, requests } = await shop.run('limits clear --yes');
    expect({ code, stdout, requests }).toEqual({ code: 0, stdout: '', requests: [] });
    expect(stderr).toMatch(/^staging: after a 429 nothing is sent before 2026-02-16 07:00:2\d; 999 of 1000 left/m);
    expect(stderr).toContain('Forgotten: what the service said of staging.');
    expect(await shop.run('inventory get 1')).toMatchObject({ code: 0 });
  });

  test('asks, and a no forgets nothing', async () => {
    const shop = await openShop(twoAMinute);
    await shop.run('inventory get 1');
    const { asked, prompts } = confirming(false, true);
    expect(await shop.run('limits clear', { terminal: 80, prompts })).toMatchObject({ code: 2 });
    expect((await shop.run('limits --json')).stdout).toContain('"remaining":1');
    const { code, stderr } = await shop.run('limits clear --quiet', { terminal: 80, prompts });
    expect(code).toBe(0);
    expect(stderr).toContain('staging: 1 of 2 left until 07:01:00');
    expect(asked).toEqual(Array(2).fill('Forget this? A service that is called too early may ban the key.'));
    expect(await shop.run('limits --json')).toMatchObject({ stdout: '[]\n' });
  });

  test('of another environment leaves this one alone', async () => {
    const shop = await openShop(twoAMinute);
    await shop.run('inventory get 1');
    const result = await shop.run('limits clear --env production --yes');
    expect(result).toMatchObject({ code: 0, stderr: 'There is nothing to forget for production.\n' });
    expect((await shop.run('limits --json')).stdout).toContain('"remaining":1');
  });
});
