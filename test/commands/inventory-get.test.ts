import { expect, test } from 'vitest';
import { openShop } from '../support/shop.ts';

test('one pet, from one GET of the list', async () => {
  const shop = await openShop();
  const { code, stdout, requests } = await shop.run('inventory get 9007199254740993 --json');
  expect(code).toBe(0);
  expect(stdout).toBe('{"petId":9007199254740993,"quantity":0,"status":"sold"}\n');
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/inventory']);
});

test('a pet that is not in the list', async () => {
  const shop = await openShop();
  const { code, stdout, stderr } = await shop.run('inventory get 4242');
  expect(code).toBe(9);
  expect(stdout).toBe('');
  expect(stderr).toMatchInlineSnapshot(`
    "Rate limit: 999 of 1000 left, resets in 40 s
    Error: There is no pet 4242 in staging
    Hint: petstock inventory list --env staging
    "
  `);
});
