/**
 * `npm run mutation` (`test/support/mutation.ts`) runs a room at a time. Never as root (`test/support/not-as-root.ts`): use another user,
 * with a copy of the sources. The report of the last room is `coverage/mutation/mutation.html`.
 */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/support/vitest.mutation.config.ts', related: false },
  ignorePatterns: ['dist', 'coverage', 'docs'],
  // What a message says is no promise; a mutant of it is noise among those of what is done.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  // Those of module-level constants would each run every test.
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
