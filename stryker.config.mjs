/** What mutants are made of: files, and folders with `/` at the end. */
export const mutated = [
  'src/writes/',
  'src/rate-limit/',
  'src/state/decide.ts',
  'src/state/settle-rows.ts',
  'src/state/intend-rows.ts',
  'src/api/send.ts',
  'src/settings/resolve.ts',
];

/**
 * `npm run mutation` (`.ci/mutation.ts`). Never as root (`test/support/not-as-root.ts`): use another user, with a copy of the
 * sources. The report is `coverage/mutation/mutation.html`.
 */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/support/vitest.mutation.config.ts' },
  mutate: mutated.map((place) => (place.endsWith('/') ? `${place}**/*.ts` : place)),
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
  thresholds: { high: 90, low: 80, break: 75 },
};
