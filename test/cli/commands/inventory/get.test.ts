import { expect } from 'vitest';
import { errorJson } from '../../../support/error-json.ts';
import { sent } from '../../../support/requests.ts';
import { test } from '../../../support/shop.ts';

test('shows one pet, from one GET of the list', async ({ shop }) => {
  const result = await shop.run('inventory get 9007199254740993 --json');
  expect(result).toMatchObject({
    code: 0,
    stdout: '{"petId":9007199254740993,"quantity":0,"status":"sold"}\n',
    stderr: 'Rate limit: 999 of 1000 left, resets in 40 s\n',
  });
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('exit 9 if the list has no such pet; with --json the error is all that stderr has', async ({ shop }) => {
  const { code, stdout, stderr } = await shop.run('inventory get 4242 --json');
  expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
  expect(errorJson(stderr)).toEqual({
    error: {
      kind: 'not-found',
      code: 'not_found',
      message: 'There is no pet 4242 in staging.',
      exitCode: 9,
      hint: 'petstock inventory list --env staging',
    },
  });
});

test('an empty pet id is exit 2 and nothing is sent', async ({ shop }) => {
  const result = await shop.run(['inventory', 'get', '']);
  expect(result).toMatchObject({ code: 2, stdout: '', requests: [] });
  expect(result.stderr).toMatch(/^Error: .+\n/);
});
