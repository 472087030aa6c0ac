import { describe, expect } from 'vitest';
import { confirming, openShop, type Shop, type ShopOptions, sent, test } from '../../support/shop.ts';

const twoAMinute = { limits: { minute: 2, day: 1000 } };

/** A shop that has asked once. */
async function asked(options: ShopOptions = twoAMinute): Promise<Shop> {
  const shop = await openShop(options);
  await shop.run('inventory get 1');
  return shop;
}

const gated = (seconds: string, status = 429) => ({
  faults: [`GET /inventory:first=1:status=${status}:retry-after=${seconds}`],
});

describe('limits', () => {
  test('shows what the last answer said, without a request, and says that of a window that is over no more', async () => {
    const shop = await asked();
    const { code, stdout, requests } = await shop.run('limits --json');
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    const times = { resetAt: '2026-01-15T12:01:00.000Z', asOf: '2026-01-15T12:00:20.000Z' };
    expect(JSON.parse(stdout)).toEqual([{ env: 'staging', limit: 2, remaining: 1, ...times }]);
    shop.clock.advance(42_000);
    expect(await shop.run('limits --json')).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  test.each([
    [429, /^staging: after a 429 nothing is sent before 08:00:2\d\.$/m],
    [503, /^staging: while the service is unavailable nothing is sent before 0\d:00:2\d\.$/m],
  ])('names the gate of a %i', async (status, words) => {
    const shop = await asked(gated('3600', status));
    await shop.exits('limits', 0, words);
    shop.clock.advance(3700_000);
    expect((await shop.run('limits')).stderr).not.toContain('nothing is sent');
  });

  test('--refresh spends one request', async ({ shop }) => {
    const result = await shop.run('limits --refresh --json');
    expect(sent(result)).toEqual(['GET /v1/inventory']);
    expect(JSON.parse(result.stdout)).toMatchObject([{ env: 'staging', limit: 1000, remaining: 999 }]);
  });

  test('a terminal shows how full each window is', async () => {
    const shop = await asked({ limits: { minute: 4, day: 2000 } });
    for (const _request of [2, 3]) await shop.run('inventory get 1');
    const { stdout } = await shop.run('limits --color never', { terminal: 80 });
    expect(stdout.replace(/…\w{4}/, '…key4')).toBe(
      'Environment  Key    Window  Limit  Left  Used              Resets at  As of\n' +
        'staging      …key4  minute      4     1   75%  ███████░░░  07:01:00   07:00:20\n',
    );
    expect((await shop.run('limits --color always', { terminal: 80 })).stdout).toContain('\x1b[32m█');
  });

  test('where none is known that is said once', async ({ shop }) => {
    const stderr = 'No limits are known: the service states them with its next answer.\n';
    expect(await shop.run('limits', { terminal: 100 })).toMatchObject({ code: 0, stdout: '', stderr });
  });

  test('two keys of one environment are told apart, and --env chooses', async () => {
    const shop = await asked();
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
    await shop.exits('inventory get 1', 6, 'petstock waits at most 32 days; `petstock limits clear` forgets it.');
    const { stdout, requests } = await shop.exits('limits clear --yes', 0, [
      /^staging: after a 429 nothing is sent before 2026-02-16 07:00:2\d; 999 of 1000 left/m,
      'Forgotten: what the service said of staging.',
    ]);
    expect({ stdout, requests }).toEqual({ stdout: '', requests: [] });
    await shop.exits('inventory get 1', 0);
  });

  test('asks, and a no forgets nothing', async () => {
    const shop = await asked();
    const { asked: questions, prompts } = confirming(false, true);
    await shop.exits('limits clear', 2, [], { terminal: 80, prompts });
    expect((await shop.run('limits --json')).stdout).toContain('"remaining":1');
    await shop.exits('limits clear --quiet', 0, 'staging: 1 of 2 left until 07:01:00', { terminal: 80, prompts });
    expect(questions).toEqual(Array(2).fill('Forget this? A service that is called too early may ban the key.'));
    expect(await shop.run('limits --json')).toMatchObject({ stdout: '[]\n' });
  });

  test('of another environment leaves this one alone', async () => {
    const shop = await asked();
    const result = await shop.run('limits clear --env production --yes');
    expect(result).toMatchObject({ code: 0, stderr: 'There is nothing to forget for production.\n' });
    expect((await shop.run('limits --json')).stdout).toContain('"remaining":1');
  });
});
