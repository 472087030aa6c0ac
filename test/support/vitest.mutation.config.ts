import { defineConfig } from 'vitest/config';

/** The tests of one room of `test/support/mutation.ts`, which `npm run mutation` runs. */
export default defineConfig({
  test: {
    include: (process.env.PETSTOCK_MUTATION_TESTS ?? '').split(' '),
    globalSetup: ['test/support/not-as-root.ts'],
    // A mutant takes the time of every test that reaches it.
    env: { CI: 'true', PETSTOCK_RUNS: '20', PETSTOCK_TEST_POSTGRES: 'none' },
    testTimeout: 20_000,
  },
});
