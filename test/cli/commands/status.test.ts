import { createServer } from 'node:http';
import { expect } from 'vitest';
import { answering, listening } from '../../support/servers.ts';
import { test } from '../../support/shop.ts';

const down = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };

test('status shows the environment, URL and key, and that the service accepts the key', async ({ shop }) => {
  const result = await shop.run('status --json');
  expect(result.code).toBe(0);
  expect(result.sent).toEqual(['GET /v1/inventory']);
  expect(JSON.parse(result.stdout)).toEqual({
    store: null,
    storeSource: null,
    env: 'staging',
    envSource: 'default',
    url: shop.service.url,
    urlSource: 'PETSTOCK_URL_STAGING',
    proxy: null,
    proxySource: null,
    key: `…${shop.service.key.slice(-4)}`,
    keySource: 'PETSTOCK_API_KEY_STAGING',
    reachable: true,
    keyAccepted: true,
    accepted: true,
    rateLimit: { limit: 1000, remaining: 999, resetAt: '2026-01-15T12:01:00.000Z' },
  });
});

test('status --offline sends nothing, and exits with 0 even without a URL and a key', async ({ shop }) => {
  await shop.run('config set-key', { stdin: 'psk_hidden_by_it' });
  expect((await shop.exits('status --offline', 0, 'PETSTOCK_API_KEY_STAGING is set')).requests).toEqual([]);
  const result = await shop.run('status --offline --json --env production');
  expect(result).toMatchObject({ code: 0, requests: [] });
  expect(JSON.parse(result.stdout)).toMatchObject({ env: 'production', url: null, key: null, reachable: null });
});

test('status exits with 4 for a wrong key, and names the source of the key', async ({ shop }) => {
  const env = { PETSTOCK_API_KEY_STAGING: 'psk_wrong-key-1234' };
  const { stdout } = await shop.exits('status -o table', 4, 'The key came from: PETSTOCK_API_KEY_STAGING.\n', { env });
  expect(await shop.json('status --json', { env })).toMatchObject({ reachable: true, keyAccepted: false });
  expect(stdout).toMatch(/reachable +yes/);
  expect(stdout).toMatch(/key accepted +no\b/);
  expect(stdout).not.toContain('psk_');
});

test.for([
  [
    'a service that is down',
    down,
    5,
    { reachable: false, keyAccepted: null },
    "Error: Can't reach the service at http://127.0.0.1:1",
  ],
  [
    'no key',
    { PETSTOCK_API_KEY_STAGING: undefined },
    4,
    { key: null },
    'Hint: petstock config set-key --env staging\n',
  ],
  ['no address', { PETSTOCK_URL_STAGING: undefined }, 2, { url: null }, 'petstock config set-url'],
] as const)('status reports %s (%o), and exits with %i', async ([what, env, code, found, said], { shop }) => {
  const { requests } = await shop.exits('status', code, said, { env });
  expect(await shop.json('status --json', { env })).toMatchObject(found);
  if (what !== 'a service that is down') expect(requests).toEqual([]);
});

test('status reads only the beginning of an endless list', async ({ shop }) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[{"petId":0,"quantity":3,"status":"sold"}');
    const more = ',{"petId":7,"quantity":3,"status":"available"}'.repeat(1000);
    const write = () => {
      while (!response.destroyed && response.write(more));
    };
    response.on('drain', write);
    write();
  });
  const { stdout } = await shop.exits('status --json', 0, [], {
    env: { PETSTOCK_URL_STAGING: await listening(server) },
  });
  expect(JSON.parse(stdout)).toMatchObject({ reachable: true, keyAccepted: true });
});

const foreign = ['<!doctype html><title>Log in</title>', '{"status":"ok"}', '[{"name":"Rex"}]', ''];

test.for(foreign)('status reports the service as unreachable after a 200 with %j', async (body, { shop }) => {
  const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
  const { stdout } = await shop.exits('status -o table', 1, [], { env });
  expect(stdout).toMatch(/^reachable +no$/m);
  expect(stdout).toMatch(/^key accepted +not known$/m);
});

test.for(['', ' --json', ' --offline --debug'])('status%s shows no secret', async (options, { shop }) => {
  const secrets = ['k3yof4proxy', 'pa55ofstate', 'k3yofproduction', shop.service.key];
  const env = {
    HTTPS_PROXY: `http://user:${secrets[0]}@proxy.example:3128`,
    PETSTOCK_STATE_URL: `postgres://ada:${secrets[1]}@127.0.0.1:1/petstock`,
    PETSTOCK_API_KEY_PRODUCTION: `psk_${secrets[2]}`,
    PETSTOCK_URL_PRODUCTION: 'https://shop.example/v1',
  };
  for (const environment of ['staging', 'production']) {
    // Nothing is sent to the service, because the state is opened first and can't be reached.
    const { stdout, stderr } = await shop.run(`status --env ${environment}${options}`, { env });
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  }
  const withUrl = { PETSTOCK_URL_STAGING: `https://ada:${secrets[0]}@shop.example/v1` };
  const { stdout, stderr } = await shop.run(`status${options}`, { env: withUrl });
  expect(stdout + stderr).not.toContain(secrets[0]);
});

test('status shows local time on a terminal, and UTC elsewhere', async ({ shop }) => {
  await shop.run('inventory list');
  const shown = await shop.run('status --offline', { terminal: 100 });
  expect(shown.stdout).toMatch(/999 of 1,000 left, resets at 07:01:00\b/);
  expect((await shop.run('status --offline')).stdout).toMatch(/\t1000\t999\t2026-01-15T12:01:00\.000Z\n$/);
});

test.for([
  ['CET-1CEST', /^Warning: TZ=CET-1CEST can't be read, so times are in UTC\. /m],
  ['IST-5:30', /^Warning: TZ=IST-5.30 can't be read/m],
  ['Europe/Berlin', /^(?!Warning)/],
  [':Europe/Berlin', /^(?!Warning)/],
] as const)('status tells whether the time zone %s can be read', async ([TZ, told], { shop }) => {
  const { stderr } = await shop.exits('status --offline', 0, [], { env: { TZ } });
  expect(stderr).toMatch(told);
});
