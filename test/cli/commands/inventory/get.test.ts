import { expect } from 'vitest';
import { petsIn, test } from '../../../support/shop.ts';

const get = 'GET /v1/inventory';
const four = '4 39 available';
const five = '5 1 available';
const message = 'There is no pet 4242 in staging.';
const hint = 'petstock inventory list --env staging';
const missing = { code: 'not_found', kind: 'not-found', message, exitCode: 9, hint };
test('gets pets in the order asked, and exits with 9 for one that is not there', async ({ shop }) => {
  for (const [words, code, pets, told] of [
    ['8 4 9007199254740993 4', 0, ['8 32 available', four, '9007199254740993 0 sold', four], ''],
    ['4 --json', 0, [four], ''],
    ['9007199254740993 --json', 0, ['9007199254740993 0 sold'], ''],
    ['5 4 --json', 0, [five, four], ''],
    ['5 4 -o ndjson', 0, [five, four], ''],
    ['777 4 778', 9, [four], 'Error: There are no pets 777 and 778 in staging.\n'],
    ['777 778 --json', 9, [], '{"error":{'],
    ['4242 --json', 9, [], `${JSON.stringify({ error: missing })}\n`],
  ] as const) {
    const result = await shop.run(`inventory get ${words}`);
    expect(result).toMatchObject({ code, sent: [get] });
    expect(petsIn(result.stdout)).toEqual(pets);
    expect(result.stderr).toContain(told);
  }
});
