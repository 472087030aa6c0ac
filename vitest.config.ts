import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { foldersOfTests } from './test/support/temporary-folder.ts';

const postgres = 'test/support/postgres.ts';
const build = 'test/support/build.ts';
const env = { TZ: 'America/New_York' };
const every = {
  // A busy machine must not fail a test.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 10 } },
  env,
  // Transformed files are kept below node_modules for later runs, which saves a fifth of the CPU of the unit tests.
  experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
};
/** Unit and end-to-end tests have their temporary files in memory if possible, and share the modules of a process. */
const quick = { ...every, env: { ...env, TMPDIR: foldersOfTests() }, isolate: false, pool: 'forks' } as const;
/** Tests of the source in one process, whose folders are those of `src`. */
const unit = { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/{e2e,long,bench}/**'], ...quick };
/** Tests that start the built program. */
const e2e = { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...quick };
/**
 * Tests that take long by nature, such as outages and a million pets, or that need other programs (`programs/`, listed
 * in `.ci/packages`) or the registry (`install/`).
 */
const long = { name: 'long', include: ['test/long/**/*.test.ts'], ...every };

export default defineConfig({
  test: {
    projects: [
      { test: { ...unit, globalSetup: [postgres] } },
      { test: { ...e2e, globalSetup: [build, postgres] } },
      { test: { ...long, globalSetup: [build, postgres] } },
    ],
    // Two more workers than there are cores, because tests wait a third of the time, end-to-end tests most of it. It is
    // only here, because what a project says about it beats `--maxWorkers`.
    maxWorkers: availableParallelism() + 2,
  },
});
