import { describe, expect } from 'vitest';
import { resolveProxy } from '../../src/settings/proxy.ts';
import { openShop, type Shop, test } from '../support/shop.ts';
import { authorityFile, openClosingPort, openProxy, openTlsFront, type TestProxy } from '../support/tls.ts';

const stock = 'https://stock.example/v1';

/** A store at an address that only the proxy knows. */
async function openFarShop(): Promise<{ shop: Shop; proxy: TestProxy; env: Record<string, string> }> {
  const shop = await openShop();
  const front = await openTlsFront(shop.service.url);
  const proxy = await openProxy(front.port);
  await shop.run(['config', 'set', 'ca-file', authorityFile]);
  return { shop, proxy, env: { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: `http://me:s3cret@${proxy.host}` } };
}

describe('through a proxy', () => {
  test('a read and a write go through a tunnel, with the credentials of the proxy', async () => {
    const { shop, proxy, env } = await openFarShop();
    expect(await shop.run('inventory get 1', { env })).toMatchObject({ code: 0 });
    expect(await shop.run('inventory set 1 5', { env })).toMatchObject({ code: 0 });
    const authorization = `Basic ${Buffer.from('me:s3cret').toString('base64')}`;
    expect(proxy.asked).toEqual([
      { target: 'stock.example:443', authorization },
      { target: 'stock.example:443', authorization },
    ]);
  });

  test('status says which, without its credentials', async () => {
    const { shop, proxy, env } = await openFarShop();
    const { stdout } = await shop.run('status --json', { env });
    expect(JSON.parse(stdout)).toMatchObject({ proxy: `http://…@${proxy.host}`, proxySource: 'HTTPS_PROXY' });
    const table = await shop.run('status --offline -o csv', { env });
    expect(table.stdout).toContain(`proxy,http://…@${proxy.host},HTTPS_PROXY`);
    expect(table.stdout + table.stderr + stdout).not.toContain('s3cret');
  });

  test('a certificate is checked behind it', async () => {
    const { shop, env } = await openFarShop();
    await shop.run('config unset ca-file');
    const result = await shop.run('inventory set 1 5', { env });
    expect(result).toMatchObject({ code: 5, stderr: expect.stringContaining('is not trusted') });
    expect(result.requests.length).toBe(1);
  });

  test('that refuses: the write is known not to be sent', async () => {
    const { shop } = await openFarShop();
    const proxy = await openProxy(undefined);
    const env = { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: `http://me:s3cret@${proxy.host}` };
    const result = await shop.run('inventory set 1 5', { env });
    expect(result).toMatchObject({ code: 5 });
    expect(result.stderr).toContain(`the proxy http://…@${proxy.host}`);
    expect(result.stderr).toContain('407');
    // Nor is a read, which would be tried again after another fault.
    expect((await shop.run('inventory list', { env })).stderr).not.toContain('trying again');
    expect(result.stderr).not.toMatch(/s3cret|not known whether/);
    const { stdout } = await shop.run('history list --json');
    expect(JSON.parse(stdout)[0].counts).toMatchObject({ unknown: 0 });
  });

  test('that hangs up, or is not there: no storm of connections', async () => {
    const { shop } = await openFarShop();
    const closing = await openClosingPort();
    const env = { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: closing.host };
    const result = await shop.run('inventory list', { env });
    expect(result).toMatchObject({ code: 5, stderr: expect.stringContaining(`the proxy http://${closing.host}`) });
    expect(closing.connections()).toBeLessThanOrEqual(5);
  });
});

describe('which proxy', () => {
  const proxy = 'http://proxy.example:3128';
  test.each([
    [stock, { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
    [stock, { https_proxy: proxy, HTTPS_PROXY: 'http://other:1' }, 'https_proxy'],
    [stock, { HTTPS_PROXY: 'proxy.example:3128' }, 'HTTPS_PROXY'],
    [stock, { HTTP_PROXY: proxy, http_proxy: proxy }, undefined],
    [stock, { HTTPS_PROXY: '' }, undefined],
    [stock, {}, undefined],
    [stock, { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
    [stock, { HTTPS_PROXY: proxy, no_proxy: 'a.example, stock.example' }, undefined],
    [stock, { HTTPS_PROXY: proxy, NO_PROXY: '.example' }, undefined],
    [stock, { HTTPS_PROXY: proxy, NO_PROXY: 'EXAMPLE' }, undefined],
    [stock, { HTTPS_PROXY: proxy, NO_PROXY: 'stock.example:443' }, undefined],
    [stock, { HTTPS_PROXY: proxy, NO_PROXY: 'stock.example:8443' }, 'HTTPS_PROXY'],
    [stock, { HTTPS_PROXY: proxy, NO_PROXY: 'ock.example' }, 'HTTPS_PROXY'],
    ['https://127.0.0.1:4010/v1', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost/v1', { HTTPS_PROXY: proxy }, undefined],
    ['http://[::1]:4010/v1', { HTTP_PROXY: proxy }, undefined],
    ['https://[2001:db8::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '2001:db8::1' }, undefined],
    ['https://[2001:db8::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[2001:db8::1]' }, undefined],
    ['https://[2001:db8::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[2001:0DB8:0::0:1]' }, undefined],
    ['https://[2001:db8::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8, 2001:db8::/32' }, undefined],
    ['https://[2001:db8::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '2001:db9::/32,0.0.0.0/0' }, 'HTTPS_PROXY'],
    ['https://10.1.2.3/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8' }, undefined],
    ['https://10.1.2.3/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.1.2.3:443' }, undefined],
    ['https://10.1.2.3/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.1.2.0/25,10.1.3.0/24,::/0' }, undefined],
    ['https://10.1.2.3/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.1.2.128/25,10.1.3.0/24,::/0' }, 'HTTPS_PROXY'],
    ['https://[fe80::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[fe80::1]:443' }, undefined],
    ['https://[fe80::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[fe80:0::1]:443' }, undefined],
    ['https://[fe80::1]:8443/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[FE80:0:0:0::0.0.0.1]:8443' }, undefined],
    ['https://[fe80::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[fe80:0::1]:8443' }, 'HTTPS_PROXY'],
    ['https://[fe80::1]:8443/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[fe80:0::1]:443' }, 'HTTPS_PROXY'],
    ['https://[fe80::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: '[fe80:0::2]:443' }, 'HTTPS_PROXY'],
    // Without brackets the last group is a part of the address.
    ['https://[fe80::1]/v1', { HTTPS_PROXY: proxy, NO_PROXY: 'fe80::1:443' }, 'HTTPS_PROXY'],
    ['https://[fe80::1:443]/v1', { HTTPS_PROXY: proxy, NO_PROXY: 'fe80:0::1:443' }, undefined],
    ['https://10.1.2.3:8443/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.1.2.3:443' }, 'HTTPS_PROXY'],
    ['https://10.1.2.3/v1', { HTTPS_PROXY: proxy, NO_PROXY: '10.1.0.0/16:443' }, undefined],
    ['https://10.1.2.3/v1', { HTTPS_PROXY: proxy, NO_PROXY: '110.1.2.3:443, 0.1.2.3' }, 'HTTPS_PROXY'],
    ['https://stock.example./v1', { HTTPS_PROXY: proxy, NO_PROXY: 'stock.example' }, undefined],
    ['https://localhost./v1', { HTTPS_PROXY: proxy }, undefined],
  ])('%s, %j: %s', (url, env, source) => {
    const found = resolveProxy(url, env);
    expect(found?.source).toBe(source);
    if (source !== undefined) expect(found?.shown).toBe(proxy);
  });

  test.for(['socks5://me:s3cret@proxy:1', 'http://', 'http://me:s3cret@:99999', '%'])(
    '%s is refused',
    async (text, { shop }) => {
      const result = await shop.run('inventory list', { env: { PETSTOCK_URL_STAGING: stock, HTTPS_PROXY: text } });
      expect(result).toMatchObject({
        code: 2,
        requests: [],
        stderr: expect.stringContaining('HTTPS_PROXY cannot be used'),
      });
      expect(result.stderr).not.toContain('s3cret');
    },
  );
});
