import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openShop, type Shop } from '../../support/shop.ts';

const nothing = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };

describe('sandbox info', () => {
  test('makes the sandbox on first use, and says where it is', async () => {
    const shop = await openShop();
    const { code, stdout, stderr } = await shop.run('sandbox info --json', { env: nothing });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const info = JSON.parse(stdout);
    expect(info).toEqual({
      file: expect.stringContaining(shop.folders.state),
      key: expect.stringMatching(/^psk_[0-9A-Za-z]{36}$/),
      plan: 'business',
      pets: 24,
    });
    expect(statSync(info.file).mode & 0o777).toBe(0o600);
    expect(statSync(shop.folders.state).mode & 0o777).toBe(0o700);
    expect(JSON.parse((await shop.run('sandbox info --json')).stdout)).toEqual(info);
  });
});

test('sandbox reset brings the first stock back and keeps the key', async () => {
  const shop = await openShop();
  const key = async () => JSON.parse((await shop.run('sandbox info --json')).stdout).key;
  const first = await key();
  await shop.run('-e sandbox inventory set 1 99');
  expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t99\tavailable\n');
  expect((await shop.run('sandbox reset')).code).toBe(0);
  expect((await shop.run('-e sandbox inventory get 1')).stdout).toBe('1\t12\tavailable\n');
  expect(await key()).toBe(first);
});

describe('sandbox serve', () => {
  /** Serves until the test has what it wants, then Ctrl-C. */
  async function served(shop: Shop, options: string, use: (line: { url: string; key: string }) => Promise<void>) {
    const interrupt = new AbortController();
    return shop.run(`sandbox serve --port 0 --json ${options}`, {
      interrupted: interrupt.signal,
      onStdout: (line) => {
        use(JSON.parse(line)).finally(() => interrupt.abort());
      },
    });
  }

  test('says where it listens, serves any client, and ends with exit 0', async () => {
    const shop = await openShop();
    let items: unknown;
    const result = await served(shop, '--file :memory: --pets 6', async ({ url, key }) => {
      const env = { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key };
      items = JSON.parse((await shop.run('inventory list --json', { env })).stdout);
    });
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
      key: expect.stringMatching(/^psk_/),
      admin: null,
      adminToken: null,
    });
    expect(items).toHaveLength(6);
  });

  test('limits of its own', async () => {
    const shop = await openShop();
    let stderr = '';
    await served(shop, '--file :memory: --limit-minute 7 --limit-day 100', async ({ url, key }) => {
      const env = { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key };
      stderr = (await shop.run('inventory get 1', { env })).stderr;
    });
    expect(stderr).toContain('Rate limit: 6 of 7 left');
  });

  test.each([
    '--port http',
    '--port 65536',
    '--plan gold',
    '--pets -1',
    '--seed x',
    '--limit-minute 1.5',
    '--window-seconds 0',
    '--min-quantity 1e3',
    '--fault nonsense',
    '--fault *:teapot',
    '--host nowhere',
  ])('%s is exit 2', async (options) => {
    const shop = await openShop();
    const { code, stdout, stderr } = await shop.run(`sandbox serve --port 0 ${options}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Error: .+\n/);
  });

  test('a port that is taken is named, with what to do', async () => {
    const shop = await openShop();
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const { code, stderr } = await shop.run(`sandbox serve --port ${port} --file :memory:`);
    holder.close();
    expect(code).toBe(2);
    expect(stderr).toBe(
      `Error: Port ${port} on 127.0.0.1 is taken by another program.\nHint: petstock sandbox serve --port 0\n`,
    );
  });
});
