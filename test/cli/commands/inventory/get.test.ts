import { expect } from 'vitest';
import { test } from '../../../support/shop.ts';

const get = 'GET /v1/inventory';
const four = '{"petId":4,"quantity":39,"status":"available"}';
const five = '{"petId":5,"quantity":1,"status":"available"}';
const left = 'Rate limit: 999 of 1000 left, resets in 40 s\n';
const message = 'There is no pet 4242 in staging.';
const hint = 'petstock inventory list --env staging';
const missing = { code: 'not_found', kind: 'not-found', message, exitCode: 9, hint };

test.for([
  [
    '8 4 9007199254740993 4',
    0,
    '8\t32\tavailable\n4\t39\tavailable\n9007199254740993\t0\tsold\n4\t39\tavailable\n',
    left,
  ],
  ['4 --json', 0, `${four}\n`, left],
  ['9007199254740993 --json', 0, '{"petId":9007199254740993,"quantity":0,"status":"sold"}\n', left],
  ['5 4 --json', 0, `[\n${five},\n${four}\n]\n`, left],
  ['5 4 -o ndjson', 0, `${five}\n${four}\n`, left],
  ['777 4 778', 9, '4\t39\tavailable\n', `${left}Error: There are no pets 777 and 778 in staging.\n`],
  ['777 778 --json', 9, '[]\n', `${left}{"error":{`],
  ['4242 --json', 9, '', `${left}${JSON.stringify({ error: missing })}\n`],
] as const)('get %s exits with %i after one GET', async ([words, code, stdout, told], { shop }) => {
  const result = await shop.run(`inventory get ${words}`);
  expect(result).toMatchObject({ code, stdout, sent: [get] });
  expect(result.stderr.slice(0, told.length)).toBe(told);
  if (code === 0) expect(result.stderr).toBe(told);
});
