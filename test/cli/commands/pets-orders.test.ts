import { expect } from 'vitest';
import { sent, test } from '../../support/shop.ts';

test('pets get prints what comes, and says that it is deprecated and until when', async ({ shop }) => {
  const result = await shop.run('pets get 9007199254740993 --json');
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual(['GET /v1/pets/9007199254740993']);
  expect(result.stdout).toMatch(/^\{.*9007199254740993.*\}\n$/);
  expect(result.stderr).toMatch(
    /^Warning: GET \/pets\/\{petId\} is deprecated by the service and goes away on .+ GMT\n/,
  );
});

test('a pet that the service does not know is exit 9', async ({ shop }) => {
  const { code, stderr } = await shop.run('pets get 4242');
  expect(code).toBe(9);
  expect(stderr).toContain('Error: There is no pet 4242 in staging.\n');
});

test('orders list prints what comes', async ({ shop }) => {
  const result = await shop.run('orders list --json');
  expect(result).toMatchObject({ code: 0, stdout: '[]\n' });
  expect(sent(result)).toEqual(['GET /v1/store/orders']);
});
