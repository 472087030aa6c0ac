import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { configFile, readConfig } from '../../src/settings/config-file.ts';
import { makePrivateFolder } from '../../src/shared/private-files.ts';
import { openShop, test as shopTest, withEnv } from '../support/shop.ts';

const elsewhere = 'http://127.0.0.2:9/v1';
const atElsewhere = { env: { PETSTOCK_URL_STAGING: elsewhere } };
const sending = ['inventory list', 'inventory set 1 5', 'api GET /inventory', 'status'];

/** Opens a shop without its variables, so that the stored settings count. */
async function bareShop() {
  const shop = withEnv(await openShop(), { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined });
  const { config: folder } = shop.folders;
  return {
    ...shop,
    stored: async () => (await readConfig(folder)).config,
    /** Replaces the configuration file, as a user may do by hand. */
    edit: (text: string) => {
      makePrivateFolder(folder);
      writeFileSync(configFile(folder), text, { mode: 0o600 });
    },
    setUrl: async (url: string) => (await shop.run(`config set-url ${url}`)).code,
  };
}

/** `keyed` is a shop that has stored its address and key. */
const test = shopTest.extend('shop', bareShop).extend('keyed', async () => {
  const shop = await bareShop();
  expect(await shop.setUrl(shop.service.url)).toBe(0);
  expect(await shop.run('config set-key', { stdin: shop.service.key })).toMatchObject({ code: 0 });
  return shop;
});

describe('a stored key and its origin', () => {
  test('refuses set-url to another origin, and names the command that stores URL and key', async ({ keyed }) => {
    const refused = await keyed.run(`config set-url ${elsewhere}`);
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    const both = `config set-key --env staging --url ${elsewhere}`;
    expect(refused.stderr).toContain(`Hint: petstock ${both}\n`);
    expect((await keyed.stored()).urls.staging).toBe(keyed.service.url);
    expect(await keyed.run(both, { stdin: 'psk_other_key1' })).toMatchObject({ code: 0 });
    expect(await keyed.stored()).toMatchObject({
      urls: { staging: elsewhere },
      keys: { staging: 'psk_other_key1' },
      keyOrigins: { staging: 'http://127.0.0.2:9' },
    });
  });

  test('accepts a URL with another path of the same origin', async ({ keyed }) => {
    expect(await keyed.setUrl(`${new URL(keyed.service.url).origin}/shop/v1`)).toBe(0);
  });

  test('does not send a request if PETSTOCK_URL_STAGING has another origin than the stored key', async ({ keyed }) => {
    for (const command of sending) {
      const result = await keyed.run(command, atElsewhere);
      expect(result, command).toMatchObject({ code: 4, requests: [] });
      expect(result.stderr).toContain(`Hint: petstock config set-key --env staging --url ${elsewhere}\n`);
    }
  });

  test('sends a key from a variable to any URL in effect', async ({ keyed }) => {
    const env = { ...atElsewhere.env, PETSTOCK_API_KEY: 'psk_variable' };
    expect(await keyed.run('inventory get 1 --timeout 0.1', { env })).toMatchObject({ code: 5 });
  });

  test('forgets the origin of a key with unset-key, but not with unset url', async ({ keyed }) => {
    expect(await keyed.run('config unset url')).toMatchObject({ code: 0 });
    expect([await keyed.setUrl(elsewhere), await keyed.setUrl(keyed.service.url)]).toEqual([4, 0]);
    expect(await keyed.run('config unset-key')).toMatchObject({ code: 0 });
    expect(await keyed.setUrl(elsewhere)).toBe(0);
  });
});

describe('a key that was stored without a URL', () => {
  test('binds a key that was stored without a URL to the first set-url', async ({ shop }) => {
    await shop.run('config set-key', { stdin: shop.service.key });
    const unbound = await shop.run('inventory get 1', { env: { PETSTOCK_URL_STAGING: shop.service.url } });
    expect(unbound).toMatchObject({ code: 4, requests: [] });
    await shop.setUrl(shop.service.url);
    expect((await shop.stored()).keyOrigins).toEqual({ staging: new URL(shop.service.url).origin });
    expect(await shop.run('inventory get 1')).toMatchObject({ code: 0 });
    expect(await shop.setUrl(elsewhere)).toBe(4);
  });

  test('binds a key to the URL that a variable sets when it is stored', async ({ shop }) => {
    const env = { PETSTOCK_URL_STAGING: shop.service.url };
    await shop.run('config set-key', { env, stdin: shop.service.key });
    expect(await shop.run('inventory get 1', { env })).toMatchObject({ code: 0 });
  });
});

test('binds a key in a file without origins to the URL in the file', async ({ shop }) => {
  const { key, url } = shop.service;
  shop.edit(JSON.stringify({ settings: {}, keys: { staging: key }, urls: { staging: url } }));
  expect(await shop.run('inventory get 1')).toMatchObject({ code: 0 });
  expect(await shop.setUrl(elsewhere)).toBe(4);
  await shop.run('config unset url');
  expect(await shop.setUrl(elsewhere)).toBe(4);
});

test('does not send a stored key to an address that was edited by hand', async ({ keyed }) => {
  const text = readFileSync(configFile(keyed.folders.config), 'utf8');
  keyed.edit(text.replace(`"staging": "${keyed.service.url}"`, `"staging": "${elsewhere}"`));
  expect((await keyed.stored()).urls.staging).toBe(elsewhere);
  for (const command of sending) {
    const result = await keyed.run(command);
    expect(result, command).toMatchObject({ code: 4, requests: [] });
    expect(result.stderr).toContain('but the stored URL is');
  }
});

test('names the configuration file if an origin in it is invalid', async ({ shop }) => {
  shop.edit('{"keyOrigins":{"staging":"https://a.example/v1"}}');
  expect(await shop.refused('config list')).toContain(configFile(shop.folders.config));
});

describe('set-key --check', () => {
  const wrong = 'psk_not_the_key_1';

  test('stores a key with --check if the service accepts it, after one request', async ({ shop }) => {
    await shop.setUrl(shop.service.url);
    const result = await shop.run('config set-key --check', { stdin: shop.service.key });
    expect([result.code, result.requests.length]).toEqual([0, 1]);
    expect((await shop.stored()).keys.staging).toBe(shop.service.key);
  });

  test.for([
    ['', 4],
    [' --url http://127.0.0.1:9/v1 --timeout 1', 5],
  ] as const)('does not store a key that --check could not verify (%j)', async ([options, code], { shop }) => {
    await shop.setUrl(shop.service.url);
    const result = await shop.run(`config set-key --check${options}`, { stdin: wrong });
    expect(result.code).toBe(code);
    expect(result.stderr).toContain('The key was not stored');
    expect(result.stderr).not.toContain(wrong);
    expect(await shop.stored()).toMatchObject({ keys: {}, urls: { staging: shop.service.url } });
  });

  test('names the source of a key refused by --check, and suggests the same command again', async ({ shop }) => {
    const check = `config set-key --env production --url ${shop.service.url} --check`;
    const piped = await shop.run(check, { stdin: wrong });
    expect(piped.code).toBe(4);
    expect(piped.stderr).toContain('The key came from: stdin.\n');
    expect(piped.stderr).toContain(`Hint: petstock ${check}\n`);
    const typed = await shop.run(check, { terminal: 300, prompts: { password: async () => wrong } });
    expect(typed.stderr).toContain('The key came from: the prompt.');
  });

  test('refuses set-key --check if no URL is stored, or if variables set URL and key', async ({ shop }) => {
    const { url, key } = shop.service;
    const set = { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key };
    for (const env of [{}, set]) await shop.refused('config set-key --check', { env, stdin: 'psk_abcdefgh' });
    expect((await shop.stored()).keys).toEqual({});
  });
});
