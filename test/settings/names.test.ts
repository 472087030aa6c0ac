import { describe, expect, test } from 'vitest';
import { type SettingName, settingDefinitions, settingName } from '../../src/settings/settings.ts';
import { UsageError } from '../../src/shared/errors.ts';

describe('values', () => {
  test.each<[SettingName, string, unknown]>([
    ['default-env', 'production', 'production'],
    ['confirm', 'always', 'always'],
    ['low-stock', '007', 7],
    ['max-changes', '9007199254740991', 9007199254740991],
    ['output', 'tsv', 'tsv'],
  ])('%s = %s', (name, text, value) => {
    expect(settingDefinitions[name].parse(text)).toEqual({ ok: true, value });
  });

  test.each<[SettingName, string]>([
    ['default-env', 'prod'],
    ['confirm', 'yes'],
    ['low-stock', ''],
    ['low-stock', '-1'],
    ['low-stock', '1.5'],
    ['max-zero', '9007199254740992'],
    ['output', 'JSON'],
  ])('%s = %j is refused', (name, text) => {
    expect(settingDefinitions[name].parse(text)).toMatchObject({ ok: false });
  });
});

describe('names', () => {
  test('an unknown one gets the nearest and all', () => {
    expect(() => settingName('low_stock')).toThrow(
      'Unknown setting "low_stock". Did you mean "low-stock"? There are default-env, default-store, confirm, low-stock, max-changes, max-zero, read-first, codes, ca-file, state-url, state-patience, keep-history, output.',
    );
  });

  test('what may be a key is not repeated', () => {
    expect(() => settingName('psk_4f9aPq81')).toThrow(/^Unknown setting\. There/);
  });

  test.each([
    ['key', 'petstock config set-key --env staging'],
    ['api_key', 'petstock config set-key --env staging'],
    ['key.production', 'petstock config set-key --env production'],
    ['url', 'petstock config set-url https://host/v1 --env staging'],
    ['base-url', 'petstock config set-url https://host/v1 --env staging'],
    ['url.production', 'petstock config set-url https://host/v1 --env production'],
  ])('%s has a command of its own', (name, hint) => {
    expect(() => settingName(name)).toThrow(expect.objectContaining({ hint }));
    expect(() => settingName(name)).toThrow(UsageError);
  });

  test.each(['toString', '__proto__', 'constructor'])('%s is no setting', (name) =>
    expect(() => settingName(name)).toThrow(UsageError),
  );
});
