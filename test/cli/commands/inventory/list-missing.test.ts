import { expect } from 'vitest';
import { errorJson } from '../../../support/error-json.ts';
import { sent } from '../../../support/requests.ts';
import { test } from '../../../support/shop.ts';

test('--pet lists the pets that are there, and is exit 9 with the ids of the others', async ({ shop }) => {
  const result = await shop.run('inventory list --pet 777,5,778');
  expect(result).toMatchObject({ code: 9, stdout: '5\t1\tavailable\n' });
  expect(result.stderr).toContain('Error: There are no pets 777 and 778 in staging.\n');
  expect(result.stderr).toContain('Hint: petstock inventory list --env staging\n');
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('the same with JSON, --summary, and a limit that is reached early', async ({ shop }) => {
  const json = await shop.run('inventory list --pet 777,5 --json');
  expect(json).toMatchObject({ code: 9, stdout: '[\n{"petId":5,"quantity":1,"status":"available"}\n]\n' });
  expect(errorJson(json.stderr).error).toMatchObject({ code: 'not_found', exitCode: 9 });
  const summary = await shop.run('inventory list --pet 777,5 --summary --json');
  expect(summary.code).toBe(9);
  expect(JSON.parse(summary.stdout)).toMatchObject({ pets: 1 });
  expect(await shop.run('inventory list --pet 1,4,777 --limit 1')).toMatchObject({
    code: 9,
    stdout: '1\t12\tavailable\n',
  });
});

test('a pet that another filter leaves out is not missing', async ({ shop }) => {
  expect(await shop.run('inventory list --pet 5 --min-quantity 100')).toMatchObject({ code: 0, stdout: '' });
});

test('a limit of rows above the pets that are there is no fault', async ({ shop }) => {
  expect(await shop.run('inventory list --pet 4,20 --limit 1')).toMatchObject({ code: 0 });
});
