import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
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

test('a variable that hides a stored key is named in config list and in status', async ({ shop }) => {
  await shop.run('config set-key', { stdin: 'psk_stored-abcd' });
  for (const command of ['config list', 'status --offline']) {
    expect((await shop.run(command)).stderr).toContain('PETSTOCK_API_KEY_STAGING is set');
  }
});

test('the setting low-stock marks what is at or below it', async ({ shop }) => {
  await shop.run('config set low-stock 12');
  expect((await shop.run('inventory get 1 -o table')).stdout).toContain('12  low');
});

test('config get of a value that is not set is exit 1', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: undefined };
  const unset = await shop.run('config get url', { env });
  expect(unset).toMatchObject({ code: 1, stdout: '' });
  expect(unset.stderr).toContain('Error: url.staging is not set.\n');
  expect(unset.stderr).toContain("Hint: petstock config set-url 'https://<your-store>/v1' --env staging\n");
  const json = await shop.run('config get key --env production --json', { env });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ name: 'key.production', value: null });
  expect((await shop.run('config get url', { env: {} })).code).toBe(0);
  expect((await shop.run('config get low-stock')).code).toBe(0);
});
