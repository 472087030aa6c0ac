import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../support/shop.ts';

const nothing = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };

test('a key and an address are stored once, and used from then on', async ({ shop }) => {
  const { url, key } = shop.service;
  expect(await shop.run(`config set-url ${url}/`, { env: nothing })).toMatchObject({ code: 0, stdout: '' });
  expect(await shop.run('config set-key', { env: nothing, stdin: `${key}\n` })).toMatchObject({ code: 0, stdout: '' });
  const list = await shop.run('inventory list --limit 1', { env: nothing });
  expect(list).toMatchObject({ code: 0, stdout: '1\t12\tavailable\n' });
  expect(list.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(statSync(join(shop.folders.config, 'config.json')).mode & 0o777).toBe(0o600);
  expect(statSync(shop.folders.config).mode & 0o777).toBe(0o700);
});

test('on a terminal the key is asked for, and shown nowhere', async ({ shop }) => {
  const password = async () => 'psk_secret-abcd';
  const result = await shop.run('config set-key -e production', { terminal: 80, prompts: { password }, env: nothing });
  expect(result.code).toBe(0);
  expect(result.stdout + result.stderr).not.toContain('secret');
  const { stdout } = await shop.run('config list --json', { env: nothing });
  expect(JSON.parse(stdout)).toContainEqual({ name: 'key.production', value: '…abcd', source: 'config file' });
});

describe('a key as an argument', () => {
  test.for([
    ['config', 'set-key', 'psk_secret-abcd'],
    ['config', 'set-key', '--key', 'psk_secret-abcd'],
    ['config', 'set-key', '--key=psk_secret-abcd'],
    ['config', 'set', 'key', 'psk_secret-abcd'],
  ] as const)('%s %s %s is exit 2, stores nothing and repeats nothing', async (argv, { shop }) => {
    const { code, stdout, stderr } = await shop.run(argv, { env: nothing, stdin: '' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain('secret');
    expect(() => readFileSync(join(shop.folders.config, 'config.json'))).toThrow('ENOENT');
  });
});

test('a variable that hides a stored key is named in config list and in status', async ({ shop }) => {
  await shop.run('config set-key', { stdin: 'psk_stored-abcd' });
  for (const command of ['config list', 'status --offline']) {
    expect((await shop.run(command)).stderr).toContain('PETSTOCK_API_KEY_STAGING is set');
  }
});

test('a broken file stops a command before it sends, but not the help', async ({ shop }) => {
  await shop.run('config set low-stock 3');
  writeFileSync(join(shop.folders.config, 'config.json'), '{"settings":');
  const result = await shop.run('inventory list');
  expect(result).toMatchObject({ code: 2, requests: [] });
  expect(result.stderr).toContain(join(shop.folders.config, 'config.json'));
  expect(await shop.run('help environment')).toMatchObject({ code: 0 });
});

test('the setting low-stock marks what is at or below it', async ({ shop }) => {
  await shop.run('config set low-stock 12');
  expect((await shop.run('inventory get 1 -o table')).stdout).toContain('12  low');
});
