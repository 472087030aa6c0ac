import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import { test } from './run-config.ts';

const secret = 'psk_s3cretABCD';
const own = 'https://a.example/v1';
const database = 'postgresql://db.example/x?sslmode=verify-ca&sslrootcert=';
const hides = (variable: string, what: string) => `Warning: ${variable} is set, so ${what} is not used.\n`;

test('reports the environment in set-key and unset-key, and a variable overriding the key', async ({ config }) => {
  const stored = await config.says('set-key -e production', { stdin: `${secret}\n` });
  expect(stored).toBe('Stored the key …ABCD of production in FILE\n');
  expect((await config.stored()).keys).toEqual({ production: secret });
  expect(statSync(config.file).mode & 0o777).toBe(0o600);
  const hidden = await config.says('set-key', { stdin: secret, env: { PETSTOCK_API_KEY: 'other-key' } });
  const warning = hides('PETSTOCK_API_KEY', 'the stored key of staging');
  expect(hidden).toBe(`Stored the key …ABCD of staging in FILE\n${warning}`);
  expect(await config.says('unset-key -e production')).toBe('Removed the key …ABCD of production from FILE\n');
  expect((await config.stored()).keys).toEqual({ staging: secret });
  await config.says('unset-key');
  expect(await config.says('unset-key', { env: { PETSTOCK_API_KEY_STAGING: secret } })).toBe(
    'No key of staging is stored in FILE\nWarning: PETSTOCK_API_KEY_STAGING is set, so staging still has a key.\n',
  );
});

test('stores a normalized URL, reports a variable that overrides it, and removes it', async ({ config }) => {
  const env = { PETSTOCK_URL_PRODUCTION: own };
  expect(await config.says('set-url https://Stock.example:443/v1/ -e production', { env })).toBe(
    `Stored the URL https://stock.example/v1 of production in FILE\n${hides('PETSTOCK_URL_PRODUCTION', 'the stored URL of production')}`,
  );
  for (const command of ['unset url.staging', 'unset url --env staging']) {
    await config.says(`set-url ${own}`);
    expect((await config.stored()).urls).toEqual({ production: 'https://stock.example/v1', staging: own });
    expect(await config.says(command)).toBe('Removed the URL of staging from FILE\n');
    expect((await config.stored()).urls).toEqual({ production: 'https://stock.example/v1' });
  }
  const none = await config.says('unset url', { env: { PETSTOCK_URL_STAGING: own } });
  const warning = 'Warning: PETSTOCK_URL_STAGING is set, so staging still has a URL.\n';
  expect(none).toBe(`No URL of staging is stored in FILE\n${warning}`);
});

test('reports setting and file in set and unset, and a variable overriding the setting', async ({ config }) => {
  expect(await config.says('set low-stock 007')).toBe('Set low-stock to 7 in FILE\n');
  expect(await config.says('set low-stock 0')).toBe('Set low-stock to 0 in FILE\n');
  const hidden = await config.says('set default-env sandbox', { env: { PETSTOCK_ENV: 'staging' } });
  expect(hidden).toBe(`Set default-env to sandbox in FILE\n${hides('PETSTOCK_ENV', 'default-env')}`);
  expect((await config.stored()).settings).toEqual({ 'low-stock': 0, 'default-env': 'sandbox' });
  expect(await config.says('unset low-stock')).toBe('Removed low-stock from FILE. The default is 5\n');
  expect(await config.says('unset low-stock')).toBe('low-stock is not set in FILE\n');
  expect((await config.stored()).settings).toEqual({ 'default-env': 'sandbox' });
});

test.for([
  ['codes', 'test/settings/codes.csv', resolve('test/settings/codes.csv')],
  ['ca-file', 'test/support/certificates/authority.pem', resolve('test/support/certificates/authority.pem')],
  ['state-url', `${database}my%20ca.pem&sslkey=/k.pem`, `${database}${resolve('my%20ca.pem')}&sslkey=/k.pem`],
] as const)('stores an absolute path with config set %s %s', async ([name, value, stored], { config }) => {
  expect(await config.says(`set ${name} ${value}`)).toBe(`Set ${name} to ${stored} in FILE\n`);
  expect((await config.stored()).settings).toEqual({ [name]: stored });
});

test('asks for a key in set-key on a terminal, but not for the sandbox, which has its own', async ({ config }) => {
  const sandbox = await config.run('set-key -e sandbox', { typed: secret });
  expect(sandbox).toMatchObject({ code: 2, questions: [] });
  const staging = await config.run('set-key', { typed: secret });
  expect(staging).toMatchObject({ code: 0, questions: ['API key for staging'] });
  expect((await config.stored()).keys).toEqual({ staging: secret });
});

const ofProduction = 'Hint: petstock config set-key --env production';

test.for<[command: string, says: string, stdin?: string]>([
  [`set-key ${secret}`, 'Hint: petstock config set-key'],
  [`set-key -- ${secret}`, 'Hint: petstock config set-key'],
  [`set-key production ${secret}`, 'Hint: petstock config set-key'],
  [`set-key --key=${secret}`, 'Hint: petstock config set-key'],
  [`set-key --key ${secret}`, 'Hint: petstock config set-key'],
  [`set-key -k${secret}`, 'Hint: petstock config set-key'],
  [`set-key --env production --${secret}`, ofProduction],
  [`set-key --env production ${secret}`, ofProduction],
  ['set-key', 'more than one line', `${secret}\n${secret}\n`],
  ['set-key', 'too long to be a key', secret.repeat(10_000)],
  [
    'set-url https://me:s3cret@stock.example/v1',
    "Hint: petstock config set-url 'https://<your-store>/v1' --env staging",
  ],
  ['set max-zero -1', 'max-zero was not changed: it must be a whole number from 0.'],
  ['set max-zero 9007199254740992', 'max-zero was not changed'],
  ['set low-stock 1.5', 'low-stock was not changed'],
  ['set output JSON', 'Did you mean "json"?'],
  [
    'set low_stock 1',
    'Unknown setting "low_stock". Did you mean "low-stock"? The settings are default-env, default-store, confirm,',
  ],
  ['set constructor 1', 'Unknown setting "constructor"'],
  [`set ${secret} 1`, 'Error: petstock config set does not take a key'],
  ['set confirm allways', 'Did you mean "always"?'],
  ['set maxzero 1', 'Did you mean "max-zero"?'],
  ['set key.production x', ofProduction],
  [`set base-url ${own}`, "Hint: petstock config set-url 'https://<your-store>/v1' --env staging"],
  [`set url.production ${own}`, "Hint: petstock config set-url 'https://<your-store>/v1' --env production"],
  ['set low-stock many', 'low-stock was not changed'],
  ['unset key.production', 'Hint: petstock config unset-key --env production'],
  ['get keys.staging', 'Unknown name "keys.staging". Did you mean "key.staging"?'],
  ['get toString', 'Unknown name "toString"'],
  ['get url.sandbox', 'Unknown name "url.sandbox"'],
  ['get url --env sandbox', 'The sandbox makes its own URL'],
  ['get key --env sandbox', 'The sandbox makes its own key'],
  ['unset url --env sandbox', 'The sandbox makes its own URL'],
])('refuses config %s without repeating a key or password: %s', async ([command, says, stdin], { config }) => {
  const { code, stdout, stderr } = await config.run(command, { stdin: stdin ?? 'psk_another_one' });
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
  expect(stderr).not.toMatch(/s3cret|ABCD/);
  expect(existsSync(config.file)).toBe(false);
});

test.for([
  ['low-stock', '5\n'],
  ['max-zero', '0\n'],
  ['url -e production', `${own}\n`],
  ['url.production', `${own}\n`],
  ['key.staging', '…ABCD\n'],
  ['low-stock --json', '{"name":"low-stock","value":5,"source":"default"}\n'],
] as const)('prints only the requested value for config get %s', async ([words, stdout], { config }) => {
  await config.says('set max-zero 0');
  await config.says(`set-url ${own} -e production`);
  await config.says('set-key', { stdin: secret });
  expect(await config.run(`get ${words}`)).toMatchObject({ code: 0, stdout });
});

test('shows every name in config list, masks keys, and warns about overridden values', async ({ config }) => {
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
    { name: 'keep-history', value: null, source: 'not set' },
    { name: 'output', value: null, source: 'not set' },
    { name: 'url.staging', value: null, source: 'not set' },
    { name: 'url.production', value: null, source: 'cannot be used' },
    { name: 'key.staging', value: '…WXYZ', source: 'PETSTOCK_API_KEY_STAGING' },
    { name: 'key.production', value: null, source: 'not set' },
  ]);
  expect(stderr).toContain('Warning: PETSTOCK_API_KEY_STAGING is set, so the stored key of staging is not used.\n');
  expect(stderr).toContain('Warning: PETSTOCK_URL_PRODUCTION is not valid');
  expect(stdout + stderr).not.toMatch(/s3cret|0ther/);
});

test('prints the path of the configuration file even if the file does not exist', async ({ config }) => {
  expect(await config.run('path')).toMatchObject({ code: 0, stdout: `${config.file}\n`, stderr: '' });
  expect((await config.run('path --json')).stdout).toBe(`${JSON.stringify({ path: config.file })}\n`);
  expect(existsSync(config.file)).toBe(false);
});
