import { expect, test } from 'vitest';
import { type Answerer, answer, openServer } from '../../api/server.ts';
import { sent } from '../../support/requests.ts';
import { openShop } from '../../support/shop.ts';

test('tells environment, address, key, and that the service accepts it', async () => {
  const shop = await openShop();
  const result = await shop.run('status --json');
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual(['GET /v1/inventory']);
  expect(JSON.parse(result.stdout)).toEqual({
    store: null,
    storeSource: null,
    env: 'staging',
    envSource: 'default',
    url: shop.service.url,
    urlSource: 'PETSTOCK_URL_STAGING',
    key: `…${shop.service.key.slice(-4)}`,
    keySource: 'PETSTOCK_API_KEY_STAGING',
    proxy: null,
    proxySource: null,
    reachable: true,
    keyAccepted: true,
    rateLimit: { limit: 1000, remaining: 999, resetAt: '2026-01-15T12:01:00Z' },
  });
});

test('--offline sends nothing, and is no failure without address and key', async () => {
  const shop = await openShop();
  expect(await shop.run('status --offline')).toMatchObject({ code: 0, requests: [] });
  const result = await shop.run('status --offline --json --env production');
  expect(result).toMatchObject({ code: 0, requests: [] });
  expect(JSON.parse(result.stdout)).toMatchObject({ env: 'production', url: null, key: null, reachable: null });
});

test('--offline shows what the service last told of this key', async () => {
  const shop = await openShop();
  await shop.run('inventory get 1');
  const { stdout, requests } = await shop.run('status --offline -o tsv');
  expect(requests).toEqual([]);
  expect(stdout).toContain('rate limit\t999 of 1000 left, resets at 2026-01-15T12:01:00Z');
});

test('a wrong key is a finding, and exit 4', async () => {
  const shop = await openShop();
  const result = await shop.run('status -o table', { env: { PETSTOCK_API_KEY_STAGING: 'psk_wrong-key-1234' } });
  expect(result.code).toBe(4);
  expect(result.stdout).toMatch(/reachable +yes/);
  expect(result.stdout).toMatch(/key accepted +no/);
  expect(result.stdout).not.toContain('psk_');
  expect(result.stderr).toContain('The key came from: PETSTOCK_API_KEY_STAGING.\n');
});

test('a service that is down is a finding, and exit 5', async () => {
  const shop = await openShop();
  const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
  const result = await shop.run('status -o tsv', { env });
  expect(result.code).toBe(5);
  expect(result.stdout).toContain('reachable\tno\t');
  expect(result.stderr).toContain("Error: Can't reach the service at http://127.0.0.1:1");
});

test('no key is exit 4 and no address exit 2, with the report all the same', async () => {
  const shop = await openShop();
  const noKey = await shop.run('status', { env: { PETSTOCK_API_KEY_STAGING: undefined } });
  expect(noKey).toMatchObject({ code: 4, requests: [] });
  expect(noKey.stdout).toContain('key\tnot set');
  expect(noKey.stderr).toContain('Hint: petstock config set-key --env staging\n');
  const noUrl = await shop.run('status', { env: { PETSTOCK_URL_STAGING: undefined } });
  expect(noUrl).toMatchObject({ code: 2, requests: [] });
  expect(noUrl.stderr).toContain('petstock config set-url');
});

/** Items without an end. */
const endless: Answerer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('[{"petId":0,"quantity":3,"status":"sold"}');
  const more = ',{"petId":7,"quantity":3,"status":"available"}'.repeat(1000);
  const write = () => {
    while (!response.destroyed && response.write(more));
  };
  response.on('drain', write);
  write();
};

test('reads the beginning of the list, not all of it, and drops the connection', async () => {
  const shop = await openShop();
  const server = await openServer(endless);
  const result = await shop.run('status --json', { env: { PETSTOCK_URL_STAGING: server.url } });
  expect(JSON.parse(result.stdout)).toMatchObject({ reachable: true, keyAccepted: true });
  expect(result.code).toBe(0);
});

test.each([
  ['a page of a network that wants a login', '<!doctype html><title>Log in</title>'],
  ['JSON of something else', '{"status":"ok"}'],
  ['a list of something else', '[{"name":"Rex"}]'],
])('%s is not the service, though it answers 200', async (_what, body) => {
  const shop = await openShop();
  const server = await openServer(answer(200, body));
  const result = await shop.run('status -o tsv', { env: { PETSTOCK_URL_STAGING: server.url } });
  expect(result.code).toBe(1);
  expect(result.stdout).toContain('reachable\tno\t');
});
