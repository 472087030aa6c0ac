import { expect } from 'vitest';
import { sent, test } from '../../../support/shop.ts';

test.for([
  ['+5', 44],
  ['-2', 37],
  ['0', 39],
  ['-40', -1],
] as const)('a delta of %s is computed once and set', async ([delta, after], { shop }) => {
  const result = await shop.run(`inventory adjust 4 ${delta} --json`);
  expect(result.code).toBe(0);
  const run = expect.stringMatching(/^\d{8}T\d{6}Z-\w{4}$/);
  expect(JSON.parse(result.stdout)).toEqual({ petId: 4, quantity: after, status: 'available', before: 39, run });
  expect(sent(result)).toEqual(['GET /v1/inventory', `PATCH /v1/inventory/4 {"quantity":${after}}`]);
});

test('ids beyond 2^53', async ({ shop }) => {
  const result = await shop.run('inventory adjust 9223372036854775807 +3 -o tsv');
  expect(result.stdout).toMatch(/^9223372036854775807\t3\tavailable\t0\t\S+-\w{4}\n$/);
  expect(sent(result)).toContain('PATCH /v1/inventory/9223372036854775807 {"quantity":3}');
});

test("a sum that a double can't hold is refused before the write", async ({ shop }) => {
  const result = await shop.run('inventory adjust 4 9007199254740991');
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('a pet that is not in the list is exit 9 and no PATCH', async ({ shop }) => {
  const result = await shop.run('inventory adjust 4242 1');
  expect(result.code).toBe(9);
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('a delta that is none is exit 2 and nothing is sent', async ({ shop }) => {
  expect(await shop.run('inventory adjust 4 1.5')).toMatchObject({ code: 2, requests: [] });
});

test.for(['adjust 4 -500', 'set 4 -3', 'set 4 -3 --read-first'])(
  '%s below zero in a script says so',
  async (command, { shop }) => {
    expect(await shop.run(`inventory ${command}`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Warning: the stock of pet 4 goes below 0'),
    });
  },
);
