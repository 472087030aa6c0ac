import { defineConfig } from 'vitest/config';

/** The configuration for one group of tests in `test/support/mutation.ts`, which `npm run mutation` runs. */
export default defineConfig({
  test: {
    include: (process.env.PETSTOCK_MUTATION_TESTS ?? '').split(' '),
    globalSetup: ['test/support/not-as-root.ts'],
    // Every mutant runs all the tests that reach it, so the tests have to be quick.
    env: { CI: 'true', PETSTOCK_RUNS: '20', PETSTOCK_TEST_POSTGRES: 'none' },
    testTimeout: 20_000,
  },
});
