import { expect } from 'vitest';
import { test } from '../support/shop.ts';

const stored = 'psk_stored_1111';
const storedUrl = 'https://stored.example/v1';
const unset = { PETSTOCK_API_KEY_STAGING: undefined, PETSTOCK_URL_STAGING: undefined };

test.for([
  [{}, '…1111', 'config file', storedUrl, 'config file'],
  [{ PETSTOCK_API_KEY: 'psk_any_2222' }, '…2222', 'PETSTOCK_API_KEY', storedUrl, 'config file'],
  [
    { PETSTOCK_API_KEY: 'psk_any_2222', PETSTOCK_API_KEY_STAGING: 'psk_own_3333' },
    '…3333',
    'PETSTOCK_API_KEY_STAGING',
    storedUrl,
    'config file',
  ],
  [{ PETSTOCK_API_KEY: '', PETSTOCK_API_KEY_STAGING: '' }, '…1111', 'config file', storedUrl, 'config file'],
  [{ PETSTOCK_URL_STAGING: '' }, '…1111', 'config file', storedUrl, 'config file'],
  [
    { PETSTOCK_URL_STAGING: 'https://other.example/v1/' },
    '…1111',
    'config file',
    'https://other.example/v1',
    'PETSTOCK_URL_STAGING',
  ],
  [
    { PETSTOCK_URL_PRODUCTION: 'https://other.example/v1', PETSTOCK_API_KEY_PRODUCTION: 'psk_own_3333' },
    '…1111',
    'config file',
    storedUrl,
    'config file',
  ],
] as const)(
  'takes the key and the URL of staging from %o or what is stored',
  async ([variables, ...found], { shop }) => {
    const env = { ...unset, ...variables };
    await shop.run(`config set-url ${storedUrl}`, { env: unset });
    await shop.run('config set-key', { env: unset, stdin: stored });
    const { key, keySource, url, urlSource } = await shop.json('status --offline --json', { env });
    expect([key, keySource, url, urlSource]).toEqual(found);
  },
);

test.for([
  [{ PETSTOCK_API_KEY_STAGING: 'Bearer psk_s3cret' }, 'PETSTOCK_API_KEY_STAGING is not valid'],
  [{ PETSTOCK_API_KEY_STAGING: '  ' }, 'PETSTOCK_API_KEY_STAGING is not valid'],
  [{ PETSTOCK_URL_STAGING: 'http://s3cret.example/v1' }, 'PETSTOCK_URL_STAGING is not valid'],
] as const)('names a variable whose text is no key or URL, and sends nothing: %o', async ([env, said], { shop }) => {
  const stderr = await shop.refused('inventory list', { env });
  expect(stderr).toContain(said);
  expect(stderr).not.toContain('psk_s3cret');
});

test('takes the environment from --env, PETSTOCK_ENV, the setting or staging, in that order', async ({ shop }) => {
  const chosen = async (options = '', PETSTOCK_ENV?: string) =>
    (await shop.json(`status --offline --json${options}`, { env: { PETSTOCK_ENV } })).env;
  expect(await chosen()).toBe('staging');
  await shop.run('config set default-env production');
  expect([await chosen(), await chosen('', ''), await chosen('', 'staging')]).toEqual([
    'production',
    'production',
    'staging',
  ]);
  expect(await chosen(' --env production', 'staging')).toBe('production');
});
