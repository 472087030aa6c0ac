import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { configFile, readConfig } from '../../src/settings/config-file.ts';
import { setKey, setSetting, setUrl } from '../../src/settings/write-config.ts';
import { newFolder, test } from '../support/new-folder.ts';
import { runConfig } from './run-config.ts';

const secret = 'psk_s3cretABCD';
const read = (folder: string) => readConfig(folder).config;

describe('config set-key', () => {
  test('takes all of stdin', async ({ folder }) => {
    const outcome = await runConfig(['config', 'set-key', '-e', 'production'], { folder, stdin: `${secret}\n` });
    expect(outcome).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `Stored the key …ABCD of production in ${configFile(folder)}\n`,
      questions: [],
    });
    expect(read(folder).keys).toEqual({ production: secret });
    expect(statSync(configFile(folder)).mode & 0o777).toBe(0o600);
  });

  test('asks on a terminal', async ({ folder }) => {
    const outcome = await runConfig(['config', 'set-key'], { folder, typed: secret });
    expect(outcome).toMatchObject({ code: 0, questions: ['API key for staging'] });
    expect(read(folder).keys).toEqual({ staging: secret });
  });

  test('warns where a variable hides it', async () => {
    const outcome = await runConfig(['config', 'set-key'], {
      folder: newFolder(),
      stdin: secret,
      env: { PETSTOCK_API_KEY: 'other-key' },
    });
    expect(outcome.stderr).toContain('Warning: PETSTOCK_API_KEY is set, so the stored key of staging is not used\n');
  });

  test.each([
    ['an argument', [secret]],
    ['an argument after --', ['--', secret]],
    ['two arguments', ['production', secret]],
    ['an option with =', [`--key=${secret}`]],
    ['an option and its value', ['--key', secret]],
    ['a short option', [`-k${secret}`]],
    ['an option and an environment', ['--env', 'production', `--${secret}`]],
    ['an argument and an environment', ['--env', 'production', secret]],
  ])('refuses a key given as %s, and repeats none of it', async (_name, args) => {
    const folder = newFolder();
    const outcome = await runConfig(['config', 'set-key', ...args], { folder, stdin: 'psk_another_one' });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(`Hint: petstock config set-key${args[0] === '--env' ? ' --env production' : ''}`);
    expect(outcome.stderr).not.toMatch(/s3cret|ABCD/);
    expect(existsSync(configFile(folder))).toBe(false);
  });

  test.each([
    ['two lines', `${secret}\n${secret}\n`],
    ['a whole file', `${secret}`.repeat(10_000)],
  ])('refuses %s', async (_name, stdin) => {
    const folder = newFolder();
    const outcome = await runConfig(['config', 'set-key'], { folder, stdin });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).not.toContain('s3cret');
    expect(existsSync(configFile(folder))).toBe(false);
  });

  test('the sandbox makes its own', async () => {
    const outcome = await runConfig(['config', 'set-key', '-e', 'sandbox'], { folder: newFolder(), typed: secret });
    expect(outcome).toMatchObject({ code: 2, questions: [] });
  });
});

describe('config unset-key', () => {
  test('removes one, and says so', async ({ folder }) => {
    await setKey({ folder, store: undefined, env: 'staging' }, secret);
    await setKey({ folder, store: undefined, env: 'production' }, secret);
    const outcome = await runConfig(['config', 'unset-key', '-e', 'production'], { folder });
    expect(outcome).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `Removed the key …ABCD of production from ${configFile(folder)}\n`,
    });
    expect(read(folder).keys).toEqual({ staging: secret });
  });

  test('with none stored is no failure; a variable is named', async ({ folder }) => {
    const outcome = await runConfig(['config', 'unset-key'], { folder, env: { PETSTOCK_API_KEY_STAGING: secret } });
    expect(outcome).toMatchObject({
      code: 0,
      stderr: `No key of staging is stored in ${configFile(folder)}\nWarning: PETSTOCK_API_KEY_STAGING is set, so staging still has a key\n`,
    });
  });
});

describe('config set-url', () => {
  test('stores it normalised, and warns where a variable hides it', async ({ folder }) => {
    const outcome = await runConfig(['config', 'set-url', 'https://Stock.example:443/v1/', '-e', 'production'], {
      folder,
      env: { PETSTOCK_URL_PRODUCTION: 'https://other.example/v1' },
    });
    expect(outcome).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `Stored the URL https://stock.example/v1 of production in ${configFile(folder)}\nWarning: PETSTOCK_URL_PRODUCTION is set, so the stored URL of production is not used\n`,
    });
    expect(read(folder).urls).toEqual({ production: 'https://stock.example/v1' });
  });

  test('refuses one with a password, and repeats none of it', async ({ folder }) => {
    const outcome = await runConfig(['config', 'set-url', 'https://me:s3cret@stock.example/v1'], { folder });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('Hint: petstock config set-url https://host/v1 --env staging');
    expect(outcome.stderr).not.toContain('s3cret');
    expect(existsSync(configFile(folder))).toBe(false);
  });
});

describe('config set', () => {
  test('says what it has set, and where', async ({ folder }) => {
    const outcome = await runConfig(['config', 'set', 'low-stock', '0'], { folder });
    const stderr = `Set low-stock to 0 in ${configFile(folder)}\n`;
    expect(outcome).toMatchObject({ code: 0, stdout: '', stderr });
    expect(read(folder).settings).toEqual({ 'low-stock': 0 });
  });

  test.each([
    ['ca-file', 'test/support/certificates/authority.pem', path.resolve('test/support/certificates/authority.pem')],
    ['codes', 'package.json', path.resolve('package.json')],
    [
      'state-url',
      'postgresql://db.example/x?sslmode=verify-ca&sslrootcert=my%20ca.pem&sslkey=/k.pem',
      `postgresql://db.example/x?sslmode=verify-ca&sslrootcert=${path.resolve('my%20ca.pem')}&sslkey=/k.pem`,
    ],
  ])('%s %s is stored with an absolute path', async (name, value, stored) => {
    const folder = newFolder();
    expect(await runConfig(['config', 'set', name, value], { folder })).toMatchObject({ code: 0 });
    expect(read(folder).settings).toEqual({ [name]: stored });
  });

  test.each([
    ['max-zero', '-1', 'max-zero was not changed: it must be a whole number from 0.'],
    ['confirm', 'allways', 'Did you mean "always"?'],
    ['maxzero', '1', 'Did you mean "max-zero"?'],
    ['key', secret, 'Hint: petstock config set-key --env staging'],
    ['low-stock', secret, 'low-stock was not changed'],
  ])('%s %s is refused', async (name, value, words) => {
    const folder = newFolder();
    const outcome = await runConfig(['config', 'set', name, value], { folder });
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
    expect(outcome.stderr).not.toContain('s3cret');
    expect(existsSync(configFile(folder))).toBe(false);
  });

  test('default-env warns where PETSTOCK_ENV hides it', async () => {
    const around = { folder: newFolder(), env: { PETSTOCK_ENV: 'staging' } };
    const outcome = await runConfig(['config', 'set', 'default-env', 'sandbox'], around);
    expect(outcome.stderr).toContain('Warning: PETSTOCK_ENV is set, so default-env is not used');
  });
});

describe('config get', () => {
  test.each([
    ['low-stock', [], '5\n'],
    ['max-zero', [], '0\n'],
    ['url', ['-e', 'production'], 'https://a.example/v1\n'],
    ['url.production', [], 'https://a.example/v1\n'],
    ['key.staging', [], '…ABCD\n'],
    ['low-stock', ['--json'], '{"name":"low-stock","value":5,"source":"default"}\n'],
  ])('%s %j', async (name, args, stdout) => {
    const folder = newFolder();
    await setSetting({ folder, store: undefined }, 'max-zero', 0);
    await setUrl({ folder, store: undefined, env: 'production' }, 'https://a.example/v1');
    await setKey({ folder, store: undefined, env: 'staging' }, secret);
    expect(await runConfig(['config', 'get', name, ...args], { folder })).toMatchObject({ code: 0, stdout });
  });

  test.each(['keys.staging', 'toString', 'url.sandbox'])('%s is unknown', async (name) => {
    expect(await runConfig(['config', 'get', name], { folder: newFolder() })).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('config unset', () => {
  test('a setting', async ({ folder }) => {
    await setSetting({ folder, store: undefined }, 'low-stock', 9);
    const outcome = await runConfig(['config', 'unset', 'low-stock'], { folder });
    expect(outcome.stderr).toBe(`Removed low-stock from ${configFile(folder)}; the default is 5\n`);
    expect(read(folder).settings).toEqual({});
    const again = await runConfig(['config', 'unset', 'low-stock'], { folder });
    expect(again).toMatchObject({ code: 0, stderr: `low-stock is not set in ${configFile(folder)}\n` });
  });

  test.each([[['url.staging']], [['url', '--env', 'staging']]])('a URL: %j', async (args) => {
    const folder = newFolder();
    await setUrl({ folder, store: undefined, env: 'staging' }, 'https://a.example/v1');
    await setUrl({ folder, store: undefined, env: 'production' }, 'https://b.example/v1');
    expect(await runConfig(['config', 'unset', ...args], { folder })).toMatchObject({ code: 0, stdout: '' });
    expect(read(folder).urls).toEqual({ production: 'https://b.example/v1' });
  });

  test('a key has a command of its own', async () => {
    const outcome = await runConfig(['config', 'unset', 'key.production'], { folder: newFolder() });
    expect(outcome).toMatchObject({ code: 2 });
    expect(outcome.stderr).toContain('Hint: petstock config unset-key --env production');
  });
});

test('config list shows every name; keys masked; what is hidden on stderr', async ({ folder }) => {
  await setSetting({ folder, store: undefined }, 'low-stock', 3);
  await setKey({ folder, store: undefined, env: 'staging' }, secret);
  const env = { PETSTOCK_API_KEY_STAGING: 'psk_0therWXYZ', PETSTOCK_URL_PRODUCTION: 'http://me:s3cret@x/v1' };
  const outcome = await runConfig(['config', 'list', '--json'], { folder, env });
  expect(JSON.parse(outcome.stdout)).toEqual([
    { name: 'default-env', value: 'staging', source: 'default' },
    { name: 'default-store', value: null, source: 'not set' },
    { name: 'confirm', value: 'bulk', source: 'default' },
    { name: 'low-stock', value: 3, source: 'config file' },
    { name: 'max-changes', value: null, source: 'not set' },
    { name: 'max-zero', value: null, source: 'not set' },
    { name: 'read-first', value: 'terminal', source: 'default' },
    { name: 'codes', value: null, source: 'not set' },
    { name: 'ca-file', value: null, source: 'not set' },
    { name: 'state-url', value: null, source: 'not set' },
    { name: 'state-patience', value: 60, source: 'default' },
    { name: 'keep-history', value: null, source: 'not set' },
    { name: 'output', value: null, source: 'not set' },
    { name: 'url.staging', value: null, source: 'not set' },
    { name: 'url.production', value: null, source: 'cannot be used' },
    { name: 'key.staging', value: '…WXYZ', source: 'PETSTOCK_API_KEY_STAGING' },
    { name: 'key.production', value: null, source: 'not set' },
  ]);
  expect(outcome.stderr).toContain(
    'Warning: PETSTOCK_API_KEY_STAGING is set, so the stored key of staging is not used\n',
  );
  expect(outcome.stderr).toContain('Warning: PETSTOCK_URL_PRODUCTION cannot be used');
  expect(outcome.stdout + outcome.stderr).not.toMatch(/s3cret|0ther/);
});

test('config path names the file, which need not exist', async ({ folder }) => {
  const file = configFile(folder);
  expect(await runConfig(['config', 'path'], { folder })).toMatchObject({ code: 0, stdout: `${file}\n`, stderr: '' });
  expect((await runConfig(['config', 'path', '--json'], { folder })).stdout).toBe(
    `${JSON.stringify({ path: file })}\n`,
  );
  expect(existsSync(file)).toBe(false);
});
