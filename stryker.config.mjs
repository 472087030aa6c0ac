/**
 * `npm run mutation` (`test/support/mutation.ts`) runs Stryker for one group of files at a time. Don't run it as root
 * (`test/support/not-as-root.ts`), but as another user, with a copy of the sources. The report of the last group is
 * `coverage/mutation/mutation.html`.
 */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/support/vitest.mutation.config.ts', related: false },
  ignorePatterns: ['dist', 'coverage', 'docs'],
  // The texts of messages are not tested exactly, so mutants of strings would hide the others.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  // Mutants of module-level constants would each run every test.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 20_000,
  timeoutFactor: 3,
  tempDirName: '.stryker-tmp',
  reporters: ['clear-text', 'progress', 'html', 'json'],
  htmlReporter: { fileName: 'coverage/mutation/mutation.html' },
  jsonReporter: { fileName: 'coverage/mutation/mutation.json' },
  incremental: true,
  incrementalFile: process.env.PETSTOCK_MUTATION_MEMORY,
  thresholds: { high: 90, low: 80, break: Number(process.env.PETSTOCK_MUTATION_LEAST) },
};
