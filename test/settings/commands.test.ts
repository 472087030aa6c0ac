import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from './run-config.ts';

const secret = 'psk_s3cretABCD';

describe('config set-key', () => {
  test('takes all of stdin', async ({ config }) => {
    expect(await config.run('set-key -e production', { stdin: `${secret}\n` })).toMatchObject({
      ...{ code: 0, stdout: '', stderr: `Stored the key …ABCD of production in ${config.file}\n`, questions: [] },
    });
    expect(config.stored().keys).toEqual({ production: secret });
    expect(statSync(config.file).mode & 0o777).toBe(0o600);
  });

  test('asks on a terminal', async ({ config }) => {
    const outcome = await config.run('set-key', { typed: secret });
    expect(outcome).toMatchObject({ code: 0, questions: ['API key for staging'] });
    expect(config.stored().keys).toEqual({ staging: secret });
  });

  test('warns where a variable hides it', async ({ config }) => {
    const { stderr } = await config.run('set-key', { stdin: secret, env: { PETSTOCK_API_KEY: 'other-key' } });
    expect(stderr).toContain('Warning: PETSTOCK_API_KEY is set, so the stored key of staging is not used\n');
  });

  test.for([
    ['an argument', [secret]],
    ['an argument after --', ['--', secret]],
    ['two arguments', ['production', secret]],
    ['an option with =', [`--key=${secret}`]],
    ['an option and its value', ['--key', secret]],
    ['a short option', [`-k${secret}`]],
    ['an option and an environment', ['--env', 'production', `--${secret}`]],
    ['an argument and an environment', ['--env', 'production', secret]],
  ] as const)('refuses a key given as %s, and repeats none of it', async ([, args], { config }) => {
    const { code, stdout, stderr } = await config.run(['set-key', ...args], { stdin: 'psk_another_one' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`Hint: petstock config set-key${args[0] === '--env' ? ' --env production' : ''}`);
    expect(stderr).not.toMatch(/s3cret|ABCD/);
    expect(existsSync(config.file)).toBe(false);
  });

  test.for([
    ['two lines', `${secret}\n${secret}\n`],
    ['a whole file', `${secret}`.repeat(10_000)],
  ] as const)('refuses %s', async ([, stdin], { config }) => {
    const { code, stdout, stderr } = await config.run('set-key', { stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain('s3cret');
    expect(existsSync(config.file)).toBe(false);
  });

  test('the sandbox makes its own', async ({ config }) => {
    expect(await config.run('set-key -e sandbox', { typed: secret })).toMatchObject({ code: 2, questions: [] });
  });
});

describe('config unset-key', () => {
  test('removes one, and says so', async ({ config }) => {
    await config.run('set-key', { stdin: secret });
    await config.run('set-key -e production', { stdin: secret });
    const stderr = `Removed the key …ABCD of production from ${config.file}\n`;
    expect(await config.run('unset-key -e production')).toMatchObject({ code: 0, stdout: '', stderr });
    expect(config.stored().keys).toEqual({ staging: secret });
  });

  test('with none stored is no failure; a variable is named', async ({ config }) => {
    const warning = 'Warning: PETSTOCK_API_KEY_STAGING is set, so staging still has a key\n';
    const stderr = `No key of staging is stored in ${config.file}\n${warning}`;
    const env = { PETSTOCK_API_KEY_STAGING: secret };
    expect(await config.run('unset-key', { env })).toMatchObject({ code: 0, stderr });
  });
});

describe('config set-url', () => {
  test('stores it normalised, and warns where a variable hides it', async ({ config }) => {
    const env = { PETSTOCK_URL_PRODUCTION: 'https://other.example/v1' };
    const outcome = await config.run('set-url https://Stock.example:443/v1/ -e production', { env });
    const warning = 'Warning: PETSTOCK_URL_PRODUCTION is set, so the stored URL of production is not used\n';
    const stderr = `Stored the URL https://stock.example/v1 of production in ${config.file}\n${warning}`;
    expect(outcome).toMatchObject({ code: 0, stdout: '', stderr });
    expect(config.stored().urls).toEqual({ production: 'https://stock.example/v1' });
  });

  test('refuses one with a password, and repeats none of it', async ({ config }) => {
    const { code, stdout, stderr } = await config.run('set-url https://me:s3cret@stock.example/v1');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Hint: petstock config set-url https://host/v1 --env staging');
    expect(stderr).not.toContain('s3cret');
    expect(existsSync(config.file)).toBe(false);
  });
});

describe('config set', () => {
  test('says what it has set, and where', async ({ config }) => {
    const stderr = `Set low-stock to 0 in ${config.file}\n`;
    expect(await config.run('set low-stock 0')).toMatchObject({ code: 0, stdout: '', stderr });
    expect(config.stored().settings).toEqual({ 'low-stock': 0 });
  });

  const database = 'postgresql://db.example/x?sslmode=verify-ca&sslrootcert=';

  test.for([
    ['ca-file', 'test/support/certificates/authority.pem', resolve('test/support/certificates/authority.pem')],
    ['codes', 'package.json', resolve('package.json')],
    ['state-url', `${database}my%20ca.pem&sslkey=/k.pem`, `${database}${resolve('my%20ca.pem')}&sslkey=/k.pem`],
  ] as const)('%s %s is stored with an absolute path', async ([name, value, stored], { config }) => {
    expect(await config.run(['set', name, value])).toMatchObject({ code: 0 });
    expect(config.stored().settings).toEqual({ [name]: stored });
  });

  test.for([
    ['max-zero', '-1', 'max-zero was not changed: it must be a whole number from 0.'],
    ['confirm', 'allways', 'Did you mean "always"?'],
    ['maxzero', '1', 'Did you mean "max-zero"?'],
    ['key', secret, 'Hint: petstock config set-key --env staging'],
    ['low-stock', secret, 'low-stock was not changed'],
  ] as const)('%s %s is refused', async ([name, value, words], { config }) => {
    const { code, stdout, stderr } = await config.run(['set', name, value]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
    expect(stderr).not.toContain('s3cret');
    expect(existsSync(config.file)).toBe(false);
  });

  test('default-env warns where PETSTOCK_ENV hides it', async ({ config }) => {
    const { stderr } = await config.run('set default-env sandbox', { env: { PETSTOCK_ENV: 'staging' } });
    expect(stderr).toContain('Warning: PETSTOCK_ENV is set, so default-env is not used');
  });
});

describe('config get', () => {
  test.for([
    ['low-stock', '5\n'],
    ['max-zero', '0\n'],
    ['url -e production', 'https://a.example/v1\n'],
    ['url.production', 'https://a.example/v1\n'],
    ['key.staging', '…ABCD\n'],
    ['low-stock --json', '{"name":"low-stock","value":5,"source":"default"}\n'],
  ] as const)('%s', async ([words, stdout], { config }) => {
    await config.run('set max-zero 0');
    await config.run('set-url https://a.example/v1 -e production');
    await config.run('set-key', { stdin: secret });
    expect(await config.run(`get ${words}`)).toMatchObject({ code: 0, stdout });
  });

  test.for(['keys.staging', 'toString', 'url.sandbox'])('%s is unknown', async (name, { config }) => {
    expect(await config.run(['get', name])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('config unset', () => {
  test('a setting', async ({ config }) => {
    await config.run('set low-stock 9');
    const { stderr } = await config.run('unset low-stock');
    expect(stderr).toBe(`Removed low-stock from ${config.file}; the default is 5\n`);
    expect(config.stored().settings).toEqual({});
    const again = `low-stock is not set in ${config.file}\n`;
    expect(await config.run('unset low-stock')).toMatchObject({ code: 0, stderr: again });
  });

  test.for(['url.staging', 'url --env staging'])('a URL: %s', async (words, { config }) => {
    await config.run('set-url https://a.example/v1');
    await config.run('set-url https://b.example/v1 -e production');
    expect(await config.run(`unset ${words}`)).toMatchObject({ code: 0, stdout: '' });
    expect(config.stored().urls).toEqual({ production: 'https://b.example/v1' });
  });

  test('a key has a command of its own', async ({ config }) => {
    const { code, stderr } = await config.run('unset key.production');
    expect(code).toBe(2);
    expect(stderr).toContain('Hint: petstock config unset-key --env production');
  });
});

test('config list shows every name; keys masked; what is hidden on stderr', async ({ config }) => {
  await config.run('set low-stock 3');
  await config.run('set-key', { stdin: secret });
  const env = { PETSTOCK_API_KEY_STAGING: 'psk_0therWXYZ', PETSTOCK_URL_PRODUCTION: 'http://me:s3cret@x/v1' };
  const { stdout, stderr } = await config.run('list --json', { env });
  expect(JSON.parse(stdout)).toEqual([
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
  expect(stderr).toContain('Warning: PETSTOCK_API_KEY_STAGING is set, so the stored key of staging is not used\n');
  expect(stderr).toContain('Warning: PETSTOCK_URL_PRODUCTION cannot be used');
  expect(stdout + stderr).not.toMatch(/s3cret|0ther/);
});

test('config path names the file, which need not exist', async ({ config }) => {
  expect(await config.run('path')).toMatchObject({ code: 0, stdout: `${config.file}\n`, stderr: '' });
  expect((await config.run('path --json')).stdout).toBe(`${JSON.stringify({ path: config.file })}\n`);
  expect(existsSync(config.file)).toBe(false);
});
