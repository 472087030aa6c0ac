import { defineConfig } from 'vitest/config';

/** What `npm run mutation` runs: the quick tests of the rules that it changes, without simulations and databases. */
export default defineConfig({
  test: {
    include: [
      'test/{writes,rate-limit}/*.test.ts',
      'test/state/{decide.property,pet-writes}.test.ts',
      'test/api/{send,leaving}.test.ts',
      'test/settings/{key-origin,keys,resolve}.test.ts',
      'test/cli/runs/{increments,stopped,outcomes,later-writes,questions}.test.ts',
    ],
    exclude: ['test/rate-limit/*simulation.test.ts', 'test/rate-limit/estimate.test.ts'],
    globalSetup: ['test/support/not-as-root.ts', 'test/support/postgres.ts'],
    // A mutant takes the time of every test that reaches it.
    env: { CI: 'true', PETSTOCK_RUNS: '100' },
    testTimeout: 20_000,
  },
});
