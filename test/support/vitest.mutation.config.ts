import { defineConfig } from 'vitest/config';

/** What `npm run mutation` runs: the tests of the rules that it changes, without those that ask a database over and over. */
export default defineConfig({
  test: {
    include: [
      'test/{writes,rate-limit}/*.test.ts',
      'test/state/{decide,leases}.property.test.ts',
      'test/state/{pet-writes,sqlite}.test.ts',
      'test/api/{send,leaving}.test.ts',
      'test/settings/{key-origin,keys,resolve}.test.ts',
      'test/cli/runs/*.test.ts',
    ],
    exclude: ['test/rate-limit/{shared,sqlite}-simulation.test.ts'],
    globalSetup: ['test/support/not-as-root.ts', 'test/support/postgres.ts'],
    // Mutants take the time of every test that reaches them.
    env: { TZ: 'America/New_York', CI: 'true', PETSTOCK_RUNS: '20' },
    testTimeout: 20_000,
  },
});
