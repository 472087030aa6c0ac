import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { configFile, readConfig } from '../../src/settings/config-file.ts';
import { makePrivateFolder } from '../../src/shared/private-files.ts';
import { openShop, type Shop, test } from '../support/shop.ts';

const elsewhere = 'http://127.0.0.2:9/v1';

/** Without the variables of the shop, so that what is stored counts. */
const stored = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined } as unknown as Record<
  string,
  string
>;

async function shopWithKey(): Promise<Shop> {
  const shop = await openShop();
  await shop.run(`config set-url ${shop.service.url}`, { env: stored });
  expect(await shop.run('config set-key', { env: stored, stdin: shop.service.key })).toMatchObject({ code: 0 });
  return shop;
}

describe('a stored key goes to the origin that it was stored for', () => {
  test('set-url to another origin is refused, and names the command that stores both', async () => {
    const shop = await shopWithKey();
    const refused = await shop.run(`config set-url ${elsewhere}`, { env: stored });
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    expect(refused.stderr).toContain(`Hint: petstock config set-key --env staging --url ${elsewhere}\n`);
    expect(readConfig(shop.folders.config).config.urls.staging).toBe(shop.service.url);
    const key = await shop.run(`config set-key --env staging --url ${elsewhere}`, {
      env: stored,
      stdin: 'psk_other_key1',
    });
    expect(key).toMatchObject({ code: 0 });
    expect(readConfig(shop.folders.config).config).toMatchObject({
      urls: { staging: elsewhere },
      keys: { staging: 'psk_other_key1' },
      keyOrigins: { staging: 'http://127.0.0.2:9' },
    });
  });

  test('another path of the same origin is not another origin', async () => {
    const shop = await shopWithKey();
    const { origin } = new URL(shop.service.url);
    expect(await shop.run(`config set-url ${origin}/shop/v1`, { env: stored })).toMatchObject({ code: 0 });
  });

  test('with PETSTOCK_URL_STAGING of another origin nothing is sent', async () => {
    const shop = await shopWithKey();
    for (const command of ['inventory list', 'inventory set 1 5', 'api GET /inventory', 'status']) {
      const result = await shop.run(command, { env: { ...stored, PETSTOCK_URL_STAGING: elsewhere } });
      expect(result, command).toMatchObject({ code: 4, requests: [] });
      expect(result.stderr).toContain(`Hint: petstock config set-key --env staging --url ${elsewhere}\n`);
    }
  });

  test('a key from a variable goes with whatever URL is in force', async () => {
    const shop = await shopWithKey();
    const env = { ...stored, PETSTOCK_URL_STAGING: elsewhere, PETSTOCK_API_KEY: 'psk_variable' };
    expect(await shop.run('inventory get 1 --timeout 0.1', { env })).toMatchObject({ code: 5 });
  });

  test('unset url does not set the key free', async () => {
    const shop = await shopWithKey();
    expect(await shop.run('config unset url', { env: stored })).toMatchObject({ code: 0 });
    expect(await shop.run(`config set-url ${elsewhere}`, { env: stored })).toMatchObject({ code: 4 });
    expect(await shop.run(`config set-url ${shop.service.url}`, { env: stored })).toMatchObject({ code: 0 });
  });

  test('unset-key does', async () => {
    const shop = await shopWithKey();
    expect(await shop.run('config unset-key', { env: stored })).toMatchObject({ code: 0 });
    expect(await shop.run(`config set-url ${elsewhere}`, { env: stored })).toMatchObject({ code: 0 });
  });
});

describe('a key that was stored before any address was known', () => {
  test('is bound by the first set-url', async ({ shop }) => {
    await shop.run('config set-key', { env: stored, stdin: shop.service.key });
    const unbound = await shop.run('inventory get 1', { env: { ...stored, PETSTOCK_URL_STAGING: shop.service.url } });
    expect(unbound).toMatchObject({ code: 4, requests: [] });
    await shop.run(`config set-url ${shop.service.url}`, { env: stored });
    expect(await shop.run('inventory get 1', { env: stored })).toMatchObject({ code: 0 });
    expect(await shop.run(`config set-url ${elsewhere}`, { env: stored })).toMatchObject({ code: 4 });
  });

  test('is bound by the variable that is set when it is stored', async ({ shop }) => {
    const env = { ...stored, PETSTOCK_URL_STAGING: shop.service.url };
    await shop.run('config set-key', { env, stdin: shop.service.key });
    expect(await shop.run('inventory get 1', { env })).toMatchObject({ code: 0 });
  });
});

test('a key in a file without origins belongs to the URL beside it', async ({ shop }) => {
  const { config: folder } = shop.folders;
  makePrivateFolder(folder);
  const old = { settings: {}, keys: { staging: shop.service.key }, urls: { staging: shop.service.url } };
  writeFileSync(configFile(folder), JSON.stringify(old), { mode: 0o600 });
  expect(await shop.run('inventory get 1', { env: stored })).toMatchObject({ code: 0 });
  expect(await shop.run(`config set-url ${elsewhere}`, { env: stored })).toMatchObject({ code: 4 });
  await shop.run('config unset url', { env: stored });
  expect(await shop.run(`config set-url ${elsewhere}`, { env: stored })).toMatchObject({ code: 4 });
});

test('an address that is edited by hand does not get the stored key', async () => {
  const shop = await shopWithKey();
  const file = configFile(shop.folders.config);
  const text = readFileSync(file, 'utf8').replace(`"staging": "${shop.service.url}"`, `"staging": "${elsewhere}"`);
  writeFileSync(file, text, { mode: 0o600 });
  expect(readConfig(shop.folders.config).config.urls.staging).toBe(elsewhere);
  for (const command of ['inventory list', 'inventory set 1 5', 'status', 'api GET /inventory']) {
    const result = await shop.run(command, { env: stored });
    expect(result, command).toMatchObject({ code: 4, requests: [] });
    expect(result.stderr).toContain('the stored URL names');
  }
});

test('an origin that is none names the file', async ({ shop }) => {
  const { config: folder } = shop.folders;
  makePrivateFolder(folder);
  writeFileSync(configFile(folder), '{"keyOrigins":{"staging":"https://a.example/v1"}}', { mode: 0o600 });
  expect(await shop.run('config list')).toMatchObject({ code: 2, stderr: expect.stringContaining(configFile(folder)) });
});

describe('set-key --check', () => {
  test('stores a key that the service accepts, after one request', async ({ shop }) => {
    await shop.run(`config set-url ${shop.service.url}`, { env: stored });
    const result = await shop.run('config set-key --check', { env: stored, stdin: shop.service.key });
    expect(result).toMatchObject({ code: 0 });
    expect(result.requests).toHaveLength(1);
    expect(readConfig(shop.folders.config).config.keys.staging).toBe(shop.service.key);
  });

  test.for([
    ['', 'psk_not_the_key_1', 4],
    ['--url http://127.0.0.1:9/v1 --timeout 1', 'psk_not_the_key_1', 5],
  ] as const)('stores none that it does not (%j)', async ([options, key, code], { shop }) => {
    await shop.run(`config set-url ${shop.service.url}`, { env: stored });
    const result = await shop.run(`config set-key --check ${options}`.trim(), { env: stored, stdin: key });
    expect(result).toMatchObject({ code });
    expect(result.stderr).toContain('The key was not stored');
    expect(result.stderr).not.toContain(key);
    const { config } = readConfig(shop.folders.config);
    expect(config).toMatchObject({ keys: {}, urls: { staging: shop.service.url } });
  });

  test('says where a refused key came from, and hints the same command again', async ({ shop }) => {
    const check = `config set-key -e production --url ${shop.service.url} --check`;
    const piped = await shop.run(check, { env: stored, stdin: 'psk_not_the_key_1' });
    expect(piped).toMatchObject({ code: 4 });
    expect(piped.stderr).toContain('The key came from: stdin.\n');
    expect(piped.stderr).toContain(
      `Hint: petstock config set-key --env production --url ${shop.service.url} --check\n`,
    );
    const typed = await shop.run(check, {
      env: stored,
      terminal: 300,
      prompts: { password: async () => 'psk_not_the_key_1' },
    });
    expect(typed.stderr).toContain('The key came from: what was typed.');
  });

  test('without an address, or beside a variable, stores nothing', async ({ shop }) => {
    expect(await shop.run('config set-key --check', { env: stored, stdin: 'psk_abcdefgh' })).toMatchObject({ code: 2 });
    expect(await shop.run('config set-key --check', { stdin: 'psk_abcdefgh' })).toMatchObject({ code: 2 });
    expect(readConfig(shop.folders.config).config.keys).toEqual({});
  });
});
