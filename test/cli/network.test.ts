import { chmodSync, chownSync, copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test as plain } from 'vitest';
import { resolveProxy } from '../../src/settings/proxy.ts';
import { isRoot } from '../support/capabilities.ts';
import { newFolder } from '../support/new-folder.ts';
import { listening } from '../support/servers.ts';
import { openShop, test, withEnv } from '../support/shop.ts';
import { authorityFile, openClosingPort, openProxy, openTlsFront } from '../support/tls.ts';

test('exits with 5 after five tries if the service is down', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
  const { stdout, stderr } = await shop.exits('inventory list --debug', 5, 'ECONNREFUSED', { env });
  expect(stdout).toBe('');
  expect(stderr.match(/^> GET /gm)).toHaveLength(5);
  expect(stderr.match(/^< failed GET /gm)).toHaveLength(5);
  // The four waits are at most 0.5, 1, 2 and 4 s.
  expect(shop.clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(7500);
});

test("hides OpenSSL's error text if the server does not speak TLS", async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: shop.service.url.replace('http:', 'https:') };
  const words = 'no TLS connection can be made (wrong version number)';
  const { stderr } = await shop.exits('inventory list', 5, words, { env });
  expect(stderr).not.toMatch(/openssl|routines|:error:/i);
});

const short = 'The system gives petstock no more memory.';
/** V8's messages when address space runs out, at a process's first connection and later. */
const atConnection = 'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance';
const later = 'Array buffer allocation failed';

test.for([
  ['inventory list', 1, 'memory runs out at the first connection', atConnection, short],
  ['inventory list', 1, 'an array length is invalid', 'Invalid array length', 'This is a bug in petstock'],
  // The write was certainly not sent.
  ['inventory set 4 12 --read-first', 1, 'memory runs out at the first connection', atConnection, short],
  ['inventory set 4 12', 1, 'memory runs out later', later, short],
] as const)('%s exits with %i if %s', async ([command, code, , message, said], { shop }) => {
  const around = async () => {
    throw new RangeError(message);
  };
  const { stdout, stderr } = await shop.exits(command, code, said, { around });
  expect(stdout).toBe('');
  for (const other of ['a bug', 'not known']) expect(stderr.includes(other), stderr).toBe(said.includes(other));
});

async function openTlsShop() {
  const shop = await openShop();
  const { port, connections } = await openTlsFront(shop.service.url);
  return { shop: withEnv(shop, { PETSTOCK_URL_STAGING: `https://127.0.0.1:${port}/v1` }), connections };
}

test.each(['inventory list', 'inventory apply - --yes'])(
  'exits after one connection if the certificate is not trusted: %s',
  async (command) => {
    const { shop, connections } = await openTlsShop();
    const said = ['is not trusted', 'The request was not sent', /^Hint: petstock config set ca-file '<file with/m];
    const { requests } = await shop.exits(command, 5, said, { stdin: 'petId,quantity\n1,5\n2,6\n' });
    expect([requests.length, connections()]).toEqual([1, 1]);
  },
);

test('trusts the authority in ca-file, and refuses to run if the file is missing', async () => {
  const { shop } = await openTlsShop();
  const file = join(newFolder(), 'ca.pem');
  copyFileSync(authorityFile, file);
  await shop.exits(['config', 'set', 'ca-file', file], 0, `Set ca-file to ${file} in`);
  for (const command of ['inventory get 1', 'inventory set 1 5']) await shop.exits(command, 0);
  rmSync(file);
  expect(await shop.refused('inventory list')).toContain(file);
});

test.for([
  ['that others can write to', (file: string) => chmodSync(file, 0o666), 'others can write to it'],
  ...(isRoot ? [['of another user', (file: string) => chownSync(file, 4321, 4321), 'uid 4321'] as const] : []),
] as const)('refuses a ca-file %s, and sends nothing', async ([, change, words]) => {
  const { shop } = await openTlsShop();
  const file = join(newFolder(), 'ca.pem');
  copyFileSync(authorityFile, file);
  await shop.exits(['config', 'set', 'ca-file', file], 0);
  change(file);
  for (const command of ['inventory list', 'inventory set 1 5']) expect(await shop.refused(command)).toContain(words);
});

test.for([
  ['a file with a key', 'ca.pem', 'it contains no certificate in PEM format', 'key=psk_0123456789'],
  [
    'a damaged certificate',
    'ca.pem',
    'its certificate 1 is damaged',
    '-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----',
  ],
  ...(existsSync('/dev/zero') ? [['a device', '/dev/zero', 'it is not a file']] : []),
  ['a folder', tmpdir(), 'it is a folder'],
  ['a missing file', '/nowhere.pem', 'there is no such file'],
])('refuses %s as a ca-file, and does not store the setting', async ([, file = '', words, text = ''], { shop }) => {
  const named = file === 'ca.pem' ? join(newFolder(), file) : file;
  if (file === 'ca.pem') writeFileSync(named, text);
  const stderr = await shop.refused(['config', 'set', 'ca-file', named]);
  expect(stderr).toContain(words);
  expect(stderr).not.toMatch(/psk_|\bE[A-Z]{4,}/);
  expect((await shop.run('config get ca-file')).stdout).toBe('');
});

test('refuses writes and warns on reads with NODE_TLS_REJECT_UNAUTHORIZED=0', async ({ shop }) => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
  const said = 'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the certificate check';
  for (const command of ['inventory set 1 5', 'inventory adjust 1 +1', 'api PATCH /inventory/1 --data {"quantity":1}'])
    expect(await shop.refused(command, { env }), command).toContain(said);
  for (const command of ['inventory list', 'inventory get 1 -q', 'api GET /inventory -q'])
    expect((await shop.exits(command, 0, `Warning: ${said}`, { env })).sent, command).toHaveLength(1);
  const checked = await shop.exits('inventory set 1 5', 0, [], { env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' } });
  expect(checked.stderr).not.toContain('NODE_TLS');
});

const stock = 'https://stock.example/v1';

/** Opens a shop whose service is reached through a proxy, at a host name that only the proxy resolves. */
async function openFarShop(refusal?: string) {
  const shop = await openShop();
  const front = await openTlsFront(shop.service.url);
  const proxy = await openProxy(refusal ?? front.port);
  const file = join(newFolder(), 'ca.pem');
  copyFileSync(authorityFile, file);
  await shop.run(['config', 'set', 'ca-file', file]);
  const env = { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: `http://me:s3cret@${proxy.host}` };
  return { proxy, shop: withEnv(shop, env) };
}

describe('a proxy', () => {
  test('sends credentials to the proxy, but does not show them in status', async () => {
    const { shop, proxy } = await openFarShop();
    for (const command of ['inventory get 1', 'inventory set 1 5']) await shop.exits(command, 0);
    const authorization = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;
    expect(proxy.asked).toEqual(Array(2).fill({ target: 'stock.example:443', authorization }));
    const { stdout } = await shop.run('status --json');
    expect(JSON.parse(stdout)).toMatchObject({ proxy: `http://…@${proxy.host}`, proxySource: 'HTTPS_PROXY' });
    const table = await shop.run('status --offline -o csv');
    expect(table.stdout).toContain(`,http://…@${proxy.host},HTTPS_PROXY,`);
    expect(table.stdout + table.stderr + stdout).not.toContain('s3cret');
  });

  plain.each([
    ['kim:50%off', '', 'kim:50%off'],
    ['kim:a%40b%3Ac', '', 'kim:a@b:c'],
    ['kim:x', '?x=1#f', 'kim:x'],
  ])('sends the login %s of a proxy URL that ends in "%s" as curl does: %s', async (login, end, sent) => {
    const { shop, proxy } = await openFarShop();
    const env = { HTTPS_PROXY: `http://${login}@${proxy.host}${end}` };
    await shop.exits('inventory get 1', 0, [], { env });
    const authorization = `Basic ${Buffer.from(sent).toString('base64')}`;
    expect(proxy.asked).toEqual([{ target: 'stock.example:443', authorization }]);
  });

  test('checks the certificate of the service through a proxy', async () => {
    const { shop } = await openFarShop();
    await shop.run('config unset ca-file');
    expect((await shop.exits('inventory set 1 5', 5, 'is not trusted')).requests.length).toBe(1);
  });

  test('reports a write as not sent if a proxy refuses the connection', async () => {
    const { shop, proxy } = await openFarShop('407 Proxy Authentication Required');
    const { stderr } = await shop.exits('inventory set 1 5', 5, [`the proxy http://…@${proxy.host}`, '407']);
    // Reads are retried after other network errors, but not if a proxy refuses them.
    expect((await shop.run('inventory list')).stderr).not.toContain('trying again');
    expect(stderr).not.toMatch(/s3cret|not known whether/);
    expect((await shop.json('history list --json'))[0].counts).toMatchObject({ unknown: 0 });
    expect(proxy.asked).toHaveLength(2);
  });

  test.for([
    ['429 Too Many Requests\r\nRetry-After: 200', 6, 'the proxy http://'],
    [
      '429 Too Many Requests',
      6,
      'refused to connect, with status 429. Nothing was written. Requests are possible again in 1 min',
    ],
    ['503 Down\r\nRetry-After: 200', 5, 'Nothing was written. Requests are possible again in 3 min'],
  ] as const)('does not contact the proxy in the next command after its %j', async ([refusal, code, words]) => {
    const { shop, proxy } = await openFarShop(
      `${refusal}\r\nX-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 5\r\nX-RateLimit-Reset: 1768478460`,
    );
    await shop.exits('inventory set 1 5 --max-wait 10', code, words);
    await shop.exits('inventory get 1 --max-wait 10', code, ['again', /5\d s|in 2\d\d s|1 min|3 min/]);
    expect(proxy.asked).toHaveLength(1);
    // The proxy's response says nothing about the key.
    expect((await shop.json('limits --json'))[0] ?? { limit: null }).toMatchObject({ limit: null });
    expect((await shop.json('history list --json'))[0].counts).toMatchObject({ unknown: 0, applied: 0 });
  });

  test('connects at most five times if a proxy hangs up', async ({ shop }) => {
    const closing = await openClosingPort();
    const env = { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: closing.host };
    await shop.exits('inventory list', 5, `the proxy http://${closing.host}`, { env });
    expect(closing.connections()).toBeLessThanOrEqual(5);
  });
});

describe('the choice of a proxy', () => {
  const proxy = 'http://proxy.example:3128';

  plain.each([
    [stock, { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
    [stock, { https_proxy: proxy, HTTPS_PROXY: 'http://other:1' }, 'https_proxy'],
    [stock, { HTTPS_PROXY: 'proxy.example:3128' }, 'HTTPS_PROXY'],
    [stock, { HTTP_PROXY: proxy, http_proxy: proxy }, undefined],
    [stock, { HTTPS_PROXY: '' }, undefined],
    [stock, { HTTPS_PROXY: '', ALL_PROXY: proxy, HTTP_PROXY: 'http://other:1' }, 'ALL_PROXY'],
    [stock, { ALL_PROXY: 'http://other:1', all_proxy: proxy }, 'all_proxy'],
    [stock, { ALL_PROXY: 'http://other:1', HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
    [stock, { ALL_PROXY: proxy, NO_PROXY: 'stock.example' }, undefined],
    [stock, { HTTPS_PROXY: proxy, no_proxy: 'a.example, stock.example' }, undefined],
    ['https://127.0.0.1:4010/v1', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost./v1', { HTTPS_PROXY: proxy }, undefined],
    ['http://[::1]:4010/v1', { HTTP_PROXY: proxy }, undefined],
  ])('finds the proxy for %s in %j: %s', (url, env, source) => {
    const found = resolveProxy(url, env);
    expect(found?.source).toBe(source);
    if (source !== undefined) expect(found?.shown).toBe(proxy);
  });

  plain('refuses a SOCKS proxy, and suggests NO_PROXY', () => {
    const env = { ALL_PROXY: 'socks5://me:secret@proxy.example:1080' };
    const words = /^ALL_PROXY is not valid: it must be the URL of an HTTP proxy, .* add stock\.example to NO_PROXY\.$/;
    expect(() => resolveProxy(stock, env)).toThrow(words);
  });

  plain.each([
    ...['*', '.example', 'EXAMPLE', 'stock.example:443', 'stock.example'].map((list) => ['stock.example', list, true]),
    ...['stock.example:8443', 'ock.example'].map((list) => ['stock.example', list, false]),
    ['stock.example.', 'stock.example', true],
    ...['2001:db8::1', '[2001:DB8::1]', '[2001:db8::1]:443'].map((list) => ['[2001:db8::1]', list, true]),
    ...['[2001:db8::1]:8443', '2001:db8::2', '2001:db8::1:443'].map((list) => ['[2001:db8::1]', list, false]),
    ...['10.1.2.3', '10.1.2.3:443'].map((list) => ['10.1.2.3', list, true]),
    ...['110.1.2.3:443, 0.1.2.3', '10.1.2.3:8443'].map((list) => ['10.1.2.3', list, false]),
  ] as [string, string, boolean][])('decides whether %s is exempt with NO_PROXY=%s: %j', (host, list, isExempt) => {
    const found = resolveProxy(`https://${host}/v1`, { HTTPS_PROXY: proxy, NO_PROXY: list });
    expect(found === undefined).toBe(isExempt);
  });

  test.for(['socks5://me:s3cret@proxy:1', 'http://', 'http://me:s3cret@:99999', '%'])(
    'refuses HTTPS_PROXY=%s without showing a password',
    async (HTTPS_PROXY, { shop }) => {
      const stderr = await shop.refused('inventory list', { env: { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY } });
      expect(stderr).toContain('HTTPS_PROXY is not valid');
      expect(stderr).not.toContain('s3cret');
    },
  );
});

test('sends a lost write again on a connection of its own', async ({ shop }) => {
  let quantity = 11;
  const known = new WeakSet<Socket>();
  // Like a load balancer that closes each connection after one request.
  const server = createServer((request, response) => {
    const { method, socket } = request;
    if (known.has(socket)) return socket.destroy();
    known.add(socket);
    if (method === 'PATCH') quantity = 12;
    const item = `{"petId":4,"quantity":${quantity},"status":"available"}`;
    response.end(method === 'PATCH' ? item : `[${item}]`);
  });
  const env = { PETSTOCK_URL_STAGING: await listening(server) };
  await shop.exits('inventory adjust 4 +1', 0, [], { env });
  expect(quantity).toBe(12);
});
