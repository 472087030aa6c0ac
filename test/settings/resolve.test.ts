import { describe, expect, test } from 'vitest';
import type { StoredConfig } from '../../src/settings/config-file.ts';
import { describeShadows, resolveBaseUrl, resolveKey } from '../../src/settings/resolve.ts';

const empty: StoredConfig = { store: undefined, settings: {}, keys: {}, urls: {}, keyOrigins: {}, keyCommands: {} };
const stored: StoredConfig = {
  ...empty,
  keys: { staging: 'stored-key' },
  urls: { staging: 'https://stored.example/v1' },
};

describe('resolveKey', () => {
  test.each([
    [{ PETSTOCK_API_KEY_STAGING: 'one', PETSTOCK_API_KEY: 'two' }, stored, 'one', 'PETSTOCK_API_KEY_STAGING'],
    [{ PETSTOCK_API_KEY_STAGING: '', PETSTOCK_API_KEY: 'two' }, stored, 'two', 'PETSTOCK_API_KEY'],
    [{ PETSTOCK_API_KEY: 'two\n' }, empty, 'two', 'PETSTOCK_API_KEY'],
    [{ PETSTOCK_API_KEY_PRODUCTION: 'other' }, stored, 'stored-key', 'config file'],
  ])('uses the key of %j', (env, config, value, source) => {
    expect(resolveKey('staging', env, config)).toEqual({ value, source });
  });

  test('returns no key by default', () => expect(resolveKey('production', {}, stored)).toBeUndefined());

  test("names a variable that can't be a key, without its text", () => {
    expect(() => resolveKey('staging', { PETSTOCK_API_KEY: 'Bearer psk_secret' }, empty)).toThrow(
      /^PETSTOCK_API_KEY is not valid: (?!.*psk_secret)/,
    );
    expect(() => resolveKey('staging', { PETSTOCK_API_KEY: '  ' }, stored)).toThrow(/is empty/);
  });
});

describe('resolveBaseUrl', () => {
  test.each([
    [{ PETSTOCK_URL_STAGING: 'http://localhost:1/v1/' }, 'http://localhost:1/v1', 'PETSTOCK_URL_STAGING'],
    [{ PETSTOCK_URL_STAGING: '' }, 'https://stored.example/v1', 'config file'],
    [{ PETSTOCK_URL_PRODUCTION: 'https://other/v1' }, 'https://stored.example/v1', 'config file'],
  ])('uses the URL of %j', (env, value, source) => {
    expect(resolveBaseUrl('staging', env, stored)).toEqual({ value, source });
  });

  test('returns no URL by default', () => expect(resolveBaseUrl('production', {}, stored)).toBeUndefined());

  test("names a variable that can't be a URL", () => {
    const env = { PETSTOCK_URL_STAGING: 'http://stock.example/v1' };
    expect(() => resolveBaseUrl('staging', env, stored)).toThrow(/^PETSTOCK_URL_STAGING is not valid: .*https/);
  });
});

test('names the stored URLs and keys that a variable overrides, and nothing else', () => {
  const env = { PETSTOCK_API_KEY: 'psk_secret', PETSTOCK_URL_STAGING: 'rubbish', PETSTOCK_URL_PRODUCTION: 'x' };
  expect(describeShadows(env, stored)).toEqual([
    'PETSTOCK_URL_STAGING is set, so the stored URL of staging is not used',
    'PETSTOCK_API_KEY is set, so the stored key of staging is not used',
  ]);
  expect(describeShadows(env, empty)).toEqual([]);
  expect(describeShadows({}, stored)).toEqual([]);
});
