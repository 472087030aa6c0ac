import { expect } from 'vitest';
import { test } from '../../support/shop.ts';

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
