/**
 * What mutants are made of, and the tests that have to notice them: the quick ones of the same room. A place that ends in `/` is
 * a folder. `least` is the share of mutants in percent below which a run fails; it rises with what is reached.
 */
export const rooms = [
  {
    place: 'src/state/decide.ts',
    tests: ['test/state/decide.property.test.ts', 'test/state/pet-writes.test.ts'],
    least: 92,
  },
  { place: 'src/rate-limit/', tests: ['test/rate-limit/!(*simulation|estimate).test.ts'], least: 75 },
  {
    place: 'src/writes/',
    tests: ['test/writes/*.test.ts', 'test/cli/runs/{increments,stopped,outcomes,later-writes}.test.ts'],
    least: 70,
  },
  { place: 'src/settings/resolve.ts', tests: ['test/settings/{key-origin,keys,resolve,stores}.test.ts'], least: 70 },
  { place: 'src/api/send.ts', tests: ['test/api/{send,leaving}.test.ts'], least: 70 },
];

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
