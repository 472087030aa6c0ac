/**
 * `npm run mutation`: which changes to the durable parts no test would notice. Not a part of `check`: it takes long. Never as
 * root (`test/support/not-as-root.ts`): use another user, with a copy of the sources. The report is
 * `coverage/mutation/mutation.html`. One file: `npx stryker run --mutate src/state/sqlite/pets.ts`.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/support/vitest.mutation.config.ts' },
  mutate: ['src/state/**/*.ts', 'src/writes/**/*.ts', 'src/shared/{atomic-file,private-folder,narrow-file}.ts'],
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
  incremental: true,
  incrementalFile: 'node_modules/.cache/stryker-incremental.json',
  reporters: ['clear-text', 'progress', 'html', 'json'],
  htmlReporter: { fileName: 'coverage/mutation/mutation.html' },
  jsonReporter: { fileName: 'coverage/mutation/mutation.json' },
  thresholds: { high: 90, low: 80, break: null },
};
