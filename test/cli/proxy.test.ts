import { describe, expect, test as plain } from 'vitest';
import { resolveProxy } from '../../src/settings/proxy.ts';
import { openShop, test, withEnv } from '../support/shop.ts';
import { authorityFile, openClosingPort, openProxy, openTlsFront } from '../support/tls.ts';

const stock = 'https://stock.example/v1';

/** A store at an address that only the proxy knows. */
async function openFarShop(refuses = false) {
  const shop = await openShop();
  const front = await openTlsFront(shop.service.url);
  const proxy = await openProxy(refuses ? undefined : front.port);
  await shop.run(['config', 'set', 'ca-file', authorityFile]);
  const env = { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: `http://me:s3cret@${proxy.host}` };
  return { proxy, shop: withEnv(shop, env) };
}

describe('through a proxy', () => {
  test('a read and a write go through a tunnel, with the credentials of the proxy, which status does not show', async () => {
    const { shop, proxy } = await openFarShop();
    for (const command of ['inventory get 1', 'inventory set 1 5']) await shop.exits(command, 0);
    const authorization = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;
    expect(proxy.asked).toEqual(Array(2).fill({ target: 'stock.example:443', authorization }));
    const { stdout } = await shop.run('status --json');
    expect(JSON.parse(stdout)).toMatchObject({ proxy: `http://…@${proxy.host}`, proxySource: 'HTTPS_PROXY' });
    const table = await shop.run('status --offline -o csv');
    expect(table.stdout).toContain(`proxy,http://…@${proxy.host},HTTPS_PROXY`);
    expect(table.stdout + table.stderr + stdout).not.toContain('s3cret');
  });

  test('a certificate is checked behind it', async () => {
    const { shop } = await openFarShop();
    await shop.run('config unset ca-file');
    expect((await shop.exits('inventory set 1 5', 5, 'is not trusted')).requests.length).toBe(1);
  });

  test('that refuses: the write is known not to be sent', async () => {
    const { shop, proxy } = await openFarShop(true);
    const { stderr } = await shop.exits('inventory set 1 5', 5, [`the proxy http://…@${proxy.host}`, '407']);
    // Nor is a read, which would be tried again after another fault.
    expect((await shop.run('inventory list')).stderr).not.toContain('trying again');
    expect(stderr).not.toMatch(/s3cret|not known whether/);
    expect((await shop.json('history list --json'))[0].counts).toMatchObject({ unknown: 0 });
  });

  test('that hangs up, or is not there: no storm of connections', async ({ shop }) => {
    const closing = await openClosingPort();
    const env = { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: closing.host };
    await shop.exits('inventory list', 5, `the proxy http://${closing.host}`, { env });
    expect(closing.connections()).toBeLessThanOrEqual(5);
  });
});

describe('which proxy', () => {
  const proxy = 'http://proxy.example:3128';

  plain.each([
    [stock, { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
    [stock, { https_proxy: proxy, HTTPS_PROXY: 'http://other:1' }, 'https_proxy'],
    [stock, { HTTPS_PROXY: 'proxy.example:3128' }, 'HTTPS_PROXY'],
    [stock, { HTTP_PROXY: proxy, http_proxy: proxy }, undefined],
    [stock, { HTTPS_PROXY: '' }, undefined],
    [stock, {}, undefined],
    [stock, { HTTPS_PROXY: proxy, no_proxy: 'a.example, stock.example' }, undefined],
    ['https://127.0.0.1:4010/v1', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost/v1', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost./v1', { HTTPS_PROXY: proxy }, undefined],
    ['http://[::1]:4010/v1', { HTTP_PROXY: proxy }, undefined],
  ])('%s, %j: %s', (url, env, source) => {
    const found = resolveProxy(url, env);
    expect(found?.source).toBe(source);
    if (source !== undefined) expect(found?.shown).toBe(proxy);
  });

  plain.each<[host: string, passedBy: readonly string[], proxied: readonly string[]]>([
    [
      'stock.example',
      ['*', '.example', 'EXAMPLE', 'stock.example:443', 'stock.example'],
      ['stock.example:8443', 'ock.example'],
    ],
    ['stock.example.', ['stock.example'], []],
    [
      '[2001:db8::1]',
      ['2001:db8::1', '[2001:db8::1]', '[2001:0DB8:0::0:1]', '10.0.0.0/8, 2001:db8::/32'],
      ['2001:db9::/32,0.0.0.0/0'],
    ],
    [
      '10.1.2.3',
      ['10.0.0.0/8', '10.1.2.3:443', '10.1.2.0/25,10.1.3.0/24,::/0', '10.1.0.0/16:443'],
      ['10.1.2.128/25,10.1.3.0/24,::/0', '110.1.2.3:443, 0.1.2.3'],
    ],
    ['10.1.2.3:8443', [], ['10.1.2.3:443']],
    // Without brackets the last group is a part of the address.
    ['[fe80::1]', ['[fe80::1]:443', '[fe80:0::1]:443'], ['[fe80:0::1]:8443', '[fe80:0::2]:443', 'fe80::1:443']],
    ['[fe80::1]:8443', ['[FE80:0:0:0::0.0.0.1]:8443'], ['[fe80:0::1]:443']],
    ['[fe80::1:443]', ['fe80:0::1:443'], []],
  ])('of %s, NO_PROXY is about it: %j; is not: %j', (host, passedBy, proxied) => {
    const asked = [...passedBy, ...proxied].map((list) => {
      const found = resolveProxy(`https://${host}/v1`, { HTTPS_PROXY: proxy, NO_PROXY: list });
      return [list, found?.source];
    });
    const expected = [...passedBy.map((list) => [list, undefined]), ...proxied.map((list) => [list, 'HTTPS_PROXY'])];
    expect(asked).toEqual(expected);
  });

  test.for(['socks5://me:s3cret@proxy:1', 'http://', 'http://me:s3cret@:99999', '%'])(
    '%s is refused',
    async (HTTPS_PROXY, { shop }) => {
      const stderr = await shop.refused('inventory list', { env: { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY } });
      expect(stderr).toContain('HTTPS_PROXY cannot be used');
      expect(stderr).not.toContain('s3cret');
    },
  );
});
