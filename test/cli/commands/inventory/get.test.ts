import { expect } from 'vitest';
import { petsIn } from '../../../support/pets-in.ts';
import { test } from '../../../support/shop.ts';

const get = 'GET /v1/inventory';
const four = '4 39 available';
const five = '5 1 available';
const left = 'Rate limit: 999 of 1000 left, resets in 40 s\n';
const message = 'There is no pet 4242 in staging.';
const hint = 'petstock inventory list --env staging';
const missing = { code: 'not_found', kind: 'not-found', message, exitCode: 9, hint };

test.for([
  ['8 4 9007199254740993 4', 0, ['8 32 available', four, '9007199254740993 0 sold', four], left],
  ['4 --json', 0, [four], left],
  ['9007199254740993 --json', 0, ['9007199254740993 0 sold'], left],
  ['5 4 --json', 0, [five, four], left],
  ['5 4 -o ndjson', 0, [five, four], left],
  ['777 4 778', 9, [four], `${left}Error: There are no pets 777 and 778 in staging.\n`],
  ['777 778 --json', 9, [], `${left}{"error":{`],
  ['4242 --json', 9, [], `${left}${JSON.stringify({ error: missing })}\n`],
] as const)('get %s exits with %i after one GET', async ([words, code, pets, told], { shop }) => {
  const result = await shop.run(`inventory get ${words}`);
  expect(result).toMatchObject({ code, sent: [get] });
  expect(petsIn(result.stdout)).toEqual(pets);
  expect(result.stderr.slice(0, told.length)).toBe(told);
  if (code === 0) expect(result.stderr).toBe(told);
});
