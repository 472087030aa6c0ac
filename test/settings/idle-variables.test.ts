import { expect } from 'vitest';
import { test } from '../support/shop.ts';

test.for([
  ['PETSTOCK_URL', 'http://127.0.0.1:9/v1', 'PETSTOCK_URL has no effect. Did you mean PETSTOCK_URL_STAGING?'],
  ['PETSTOCK_OUTPT', 'json', 'PETSTOCK_OUTPT has no effect. Did you mean PETSTOCK_OUTPUT?'],
  ['PETSTOCK_API_KEY_SANDBOX', 'psk_0123456789', 'PETSTOCK_API_KEY_SANDBOX has no effect.'],
  ['PETSTOCK_SERVE_PORT', '4010', 'PETSTOCK_SERVE_PORT has no effect.'],
  ['petstock_env', 'production', 'petstock_env has no effect. Did you mean PETSTOCK_ENV?'],
] as const)('warns that %s has no effect, and does not show its value', async ([name, value, said], { shop }) => {
  const { stderr } = await shop.exits('inventory set 4 12', 0, [], {
    env: { [name]: value, PETSTOCK_VERBOSE: undefined },
  });
  expect(stderr).toBe(`Warning: ${said}\n`);
});

test('does not warn of variables that have an effect, or are empty', async ({ shop }) => {
  const env = {
    ...{ PETSTOCK_VERBOSE: undefined, PETSTOCK_YES_PLEASE: '', PETSTOCK_TIMEOUT: '20', PETSTOCK_NO_CACHE: '1' },
    ...{ PETSTOCK_NORTH_SIDE_URL_STAGING: 'https://north.example/v1', PETSTOCK_NORTH_SIDE_API_KEY_PRODUCTION: 'psk_1' },
    ...{ PETSTOCK_RAW: 'true', PETSTOCK_PAGER: 'cat', PETSTOCK_SANDBOX_KEY: '0123456789abcdef' },
  };
  await shop.exits('inventory list', 0, /^$/, { env });
});
