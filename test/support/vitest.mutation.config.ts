import { defineConfig } from 'vitest/config';

/** What `npm run mutation` runs: the tests of one room of `test/support/mutation.ts`. */
export default defineConfig({
  test: {
    include: (process.env.PETSTOCK_MUTATION_TESTS ?? '').split(' '),
    globalSetup: ['test/support/not-as-root.ts'],
    // There is no PostgreSQL, and what needs one waits on real clocks.
    testNamePattern:
      /^(?!.*(with (one database|a shared state)|outlasts a shared state|if the state is shared|a database that is set back))/,
    // A mutant takes the time of every test that reaches it.
    env: { CI: 'true', PETSTOCK_RUNS: '20' },
    testTimeout: 20_000,
  },
});
