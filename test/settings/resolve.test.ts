import { describe, expect, test } from 'vitest';
import { type ConfigFile, emptyConfig, type StoredConfig } from '../../src/settings/config-file.ts';
import {
  describeShadows,
  isKnownStore,
  knownKey,
  requireKeyOfOrigin,
  requireKnownStore,
  resolveBaseUrl,
  resolveKey,
  resolveStore,
} from '../../src/settings/resolve.ts';

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
  ])('finds the key of staging with the variables %j', (env, config, value, source) => {
    expect(resolveKey('staging', env, config)).toEqual({ value, source });
  });

  test('finds no key if none is set or stored', () => expect(resolveKey('production', {}, stored)).toBeUndefined());

  test("names a variable whose text can't be a key, without repeating the text", () => {
    const bearer = { PETSTOCK_API_KEY: 'Bearer psk_secret' };
    expect(() => resolveKey('staging', bearer, empty)).toThrow(/^PETSTOCK_API_KEY is not valid: (?!.*psk_secret)/);
    expect(() => resolveKey('staging', { PETSTOCK_API_KEY: '  ' }, stored)).toThrow(/is empty/);
  });
});

test('prefers a variable to a key command, whose key is unknown before it runs', () => {
  const command = { command: 'pass show shop', shell: false };
  const config = { ...empty, keyCommands: { staging: command } };
  const printed = resolveKey('staging', {}, config);
  expect(printed).toEqual({ command, source: expect.any(String) });
  expect(knownKey(printed)).toBeUndefined();
  const set = resolveKey('staging', { PETSTOCK_API_KEY: 'one' }, config);
  expect(knownKey(set)).toEqual({ value: 'one', source: 'PETSTOCK_API_KEY' });
  expect(knownKey(undefined)).toBeUndefined();
});

test.each([
  ['stored', {}, true],
  ['PETSTOCK_NORTH_API_KEY_PRODUCTION', { PETSTOCK_NORTH_API_KEY_PRODUCTION: 'x' }, true],
  ['PETSTOCK_NORTH_URL_STAGING', { PETSTOCK_NORTH_URL_STAGING: 'x' }, true],
  ['a variable of the unnamed store', { PETSTOCK_API_KEY: 'x', PETSTOCK_URL_STAGING: 'x' }, false],
])('decides whether a store is known by its stored values and variables: %s', (what, env, isKnown) => {
  const stores = what === 'stored' ? { north: {} } : {};
  expect(isKnownStore('north', env, { ...emptyConfig, stores } as ConfigFile)).toBe(isKnown);
});

describe('resolveBaseUrl', () => {
  test.each([
    [{ PETSTOCK_URL_STAGING: 'http://localhost:1/v1/' }, 'http://localhost:1/v1', 'PETSTOCK_URL_STAGING'],
    [{ PETSTOCK_URL_STAGING: '' }, 'https://stored.example/v1', 'config file'],
    [{ PETSTOCK_URL_PRODUCTION: 'https://other/v1' }, 'https://stored.example/v1', 'config file'],
  ])('finds the URL of staging with the variables %j', (env, value, source) => {
    expect(resolveBaseUrl('staging', env, stored)).toEqual({ value, source });
  });

  test('finds no URL if none is set or stored', () => expect(resolveBaseUrl('production', {}, stored)).toBeUndefined());

  test("names a variable whose text can't be a URL", () => {
    const env = { PETSTOCK_URL_STAGING: 'http://stock.example/v1' };
    expect(() => resolveBaseUrl('staging', env, stored)).toThrow(/^PETSTOCK_URL_STAGING is not valid: .*https/);
  });
});

test('names exactly the stored URLs and keys that a variable overrides', () => {
  const env = { PETSTOCK_API_KEY: 'psk_secret', PETSTOCK_URL_STAGING: 'rubbish', PETSTOCK_URL_PRODUCTION: 'x' };
  expect(describeShadows(env, stored)).toEqual([
    'PETSTOCK_URL_STAGING is set, so the stored URL of staging is not used',
    'PETSTOCK_API_KEY is set, so the stored key of staging is not used',
  ]);
  expect(describeShadows(env, empty)).toEqual([]);
  expect(describeShadows({}, stored)).toEqual([]);
});

test.each([
  [[], /^Unknown store "nort" in --store\. No store/, 'petstock config list'],
  [['south'], /in --store\. .*only .*south\.$/, 'petstock config list'],
  [['south', 'north'], /"north"\? .* are north, south\.$/, 'petstock inventory list -s north'],
])('lists the known stores if a store is unknown: %j', (names, end, hint) => {
  const file = { ...emptyConfig, stores: Object.fromEntries(names.map((name) => [name, {}])) } as unknown as ConfigFile;
  const store = { value: 'nort', source: '--store' };
  const argv = ['inventory', 'list', '-s', 'nort'];
  const unknown = expect.objectContaining({ message: expect.stringMatching(end), hint });
  expect(() => requireKnownStore(store, {}, file, argv)).toThrow(unknown);
  expect(requireKnownStore(store, { PETSTOCK_NORT_URL_STAGING: 'x' }, file, argv)).toBeUndefined();
});

test.each<[string, Partial<StoredConfig>, string, string, string | undefined]>([
  [
    'to the origin that it was stored for',
    { keyOrigins: { staging: 'https://a.example' } },
    'config file',
    'https://a.example/v2',
    undefined,
  ],
  ['to the origin of the stored URL', {}, 'config file', 'https://stored.example/v1', undefined],
  ['to any origin if a variable has the key', {}, 'PETSTOCK_API_KEY', 'https://b.example/v1', undefined],
  [
    'only to its own origin if it is stored',
    {},
    'config file',
    'https://b.example/v1',
    'was stored for https://stored.example, but PETSTOCK_URL_STAGING is https://b.example/v1. Nothing was sent',
  ],
  [
    'only to its own origin if a command prints it',
    { keys: {}, keyCommands: { staging: { command: 'pass', shell: false } } },
    'key command',
    'https://b.example/v1',
    'was stored for https://stored.example, but PETSTOCK_URL_STAGING is https://b.example/v1. Nothing was sent',
  ],
  [
    'nowhere if no URL was known when it was stored',
    { urls: {} },
    'config file',
    'https://b.example/v1',
    'was stored before any address was set, but PETSTOCK_URL_STAGING is https://b.example/v1. Nothing was sent',
  ],
])('decides where a key may be sent: %s', (_what, changes, source, value, refusal) => {
  const send = () =>
    requireKeyOfOrigin(
      'staging',
      { value: 'psk', source },
      { value, source: 'PETSTOCK_URL_STAGING' },
      { ...stored, ...changes },
    );
  if (refusal === undefined) expect(send).not.toThrow();
  else expect(send).toThrow(refusal);
});

test('names the stored URL if a key may not be sent there', () => {
  const config = { ...stored, keyOrigins: { staging: 'https://a.example' } };
  const url = { value: 'https://stored.example/v1', source: 'config file' };
  expect(() => requireKeyOfOrigin('staging', { value: 'psk', source: 'config file' }, url, config)).toThrow(
    'was stored for https://a.example, but the stored URL is https://stored.example/v1',
  );
});

test('takes the store from flag, variable or setting, in that order, and rejects an invalid name', () => {
  const file = { ...emptyConfig, settings: { 'default-store': 'south' } } as ConfigFile;
  const chosen = (flag: string | undefined, env: object = {}, config = file) => resolveStore(flag, { ...env }, config);
  const set = { PETSTOCK_STORE: 'west' };
  expect([
    chosen('north', set),
    chosen(undefined, set),
    chosen(undefined),
    chosen(undefined, {}, emptyConfig as ConfigFile),
  ]).toEqual([
    { value: 'north', source: '--store' },
    { value: 'west', source: 'PETSTOCK_STORE' },
    { value: 'south', source: 'config file' },
    undefined,
  ]);
  expect(() => chosen('No Store')).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^Invalid store name in --store: /),
      hint: 'petstock help environment',
    }),
  );
});
