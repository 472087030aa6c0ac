import { describe, expect } from 'vitest';
import { openShop, test } from '../../support/shop.ts';

describe('--debug', () => {
  test('shows one line per request and answer, and never the key', async ({ shop }) => {
    const { code, stderr, stdout } = await shop.run('inventory set 4 12 --expect 39 --debug');
    expect(code).toBe(0);
    expect(stderr.match(/^> .*/gm)).toHaveLength(2);
    expect(stderr.match(/^< 200 .*/gm)).toHaveLength(2);
    expect(stderr).toMatch(/^> PATCH http:\/\/127\.0\.0\.1:\d+\/v1\/inventory\/4 .*user-agent: petstock\/\d/m);
    expect(stderr).toMatch(/^< 200 PATCH .* \d+ ms .*x-ratelimit-remaining: 998/m);
    expect(stdout + stderr).not.toContain(shop.service.key);
  });

  test('as JSON has a line with its time for each request and response', async ({ shop }) => {
    const { stderr } = await shop.run('--debug=json inventory get 4');
    const events = [...stderr.matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line));
    expect(events).toEqual([
      {
        at: expect.any(String),
        event: 'request',
        method: 'GET',
        url: `${shop.service.url}/inventory`,
        headers: expect.anything(),
      },
      expect.objectContaining({ event: 'response', status: 200, ms: expect.any(Number) }),
    ]);
    expect(events[0].at).toBe(new Date(Date.parse(events[0].at)).toISOString());
    expect(stderr).not.toContain(shop.service.key);
  });
});

test('--quiet drops banner and rate limit, never a warning', async ({ shop }) => {
  const { stderr } = await shop.run('config set-url https://a.example/v1 -q');
  expect(stderr).toBe('Warning: PETSTOCK_URL_STAGING is set, so the stored URL of staging is not used\n');
});

test.each([0, 2])('--retries %i counts for a write, too', async (retries) => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:status=503'] });
  for (const write of ['set 4 12', 'adjust 5 +1', 'set 6=1 --yes']) {
    const { requests } = await shop.run(`inventory ${write} --retries ${retries}`);
    expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(retries + 1);
  }
});

test.for(['-1', '1.5', '100', 'many'])('--retries %s is exit 2', async (retries, { shop }) => {
  expect(await shop.run(`inventory list --retries=${retries}`)).toMatchObject({ code: 2, requests: [] });
});

describe('the environment', () => {
  test('the flag goes before PETSTOCK_ENV, that before the setting, that before staging', async ({ shop }) => {
    const production = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    const banner = async (command: string, env = {}) =>
      /▸ (\w+)/.exec((await shop.run(command, { env: { ...production, ...env } })).stderr)?.[1];
    expect(await banner('inventory set 4 1')).toBe('staging');
    await shop.run('config set default-env production');
    expect(await banner('inventory set 4 1')).toBe('production');
    expect(await banner('inventory set 4 1', { PETSTOCK_ENV: 'staging' })).toBe('staging');
    expect(await banner('inventory set 4 1 --env production', { PETSTOCK_ENV: 'staging' })).toBe('production');
    expect(await banner('--env production inventory set 4 1', { PETSTOCK_ENV: 'staging' })).toBe('production');
  });

  test('sandbox needs no set-up', async ({ shop }) => {
    const nothing = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };
    const set = await shop.run('--env sandbox inventory set 9007199254740993 5', { env: nothing });
    expect(set.code).toBe(0);
    const get = await shop.run('--env sandbox inventory get 9007199254740993', { env: nothing });
    expect(get.stdout).toBe('9007199254740993\t5\tsold\n');
    expect(get.stderr).toContain('Rate limit: 998 of 1000 left');
  });
});

describe('without an address or a key', () => {
  test.for([
    [{ PETSTOCK_URL_STAGING: undefined }, 2, "Hint: petstock config set-url 'https://<your-store>/v1' --env staging\n"],
    [{ PETSTOCK_API_KEY_STAGING: undefined }, 4, 'Hint: petstock config set-key --env staging\n'],
    [{ PETSTOCK_URL_STAGING: 'http://store.example/v1' }, 2, 'PETSTOCK_URL_STAGING'],
    [{ PETSTOCK_URL_STAGING: 'https://store.example/' }, 2, '/v1'],
  ] as const)('%o is exit %i', async ([env, code, told], { shop }) => {
    const result = await shop.run('inventory list', { env });
    expect(result).toMatchObject({ code, stdout: '', requests: [] });
    expect(result.stderr).toContain(told);
  });
});
