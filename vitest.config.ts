import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { foldersOfTests } from './test/support/temporary-folder.ts';

const postgres = 'test/support/postgres.ts';
const build = 'test/support/build.ts';
/** Unit and end-to-end tests have their temporary files in memory if possible, and share the modules of a process. */
const quick = { env: { TMPDIR: foldersOfTests() }, isolate: false, pool: 'forks' } as const;
/** Tests of the source in one process, whose folders are those of `src`. */
const unit = { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/{e2e,long,bench}/**'], ...quick };
/** Tests that start the built program. */
const e2e = { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...quick };
/**
 * Tests that take long by nature, such as outages and a million pets, or that need other programs (`programs/`, listed
 * in `.ci/packages`) or the registry (`install/`).
 */
const long = { name: 'long', include: ['test/long/**/*.test.ts'] };

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { ...unit, globalSetup: [postgres] } },
      { extends: true, test: { ...e2e, globalSetup: [build, postgres] } },
      { extends: true, test: { ...long, globalSetup: [build, postgres] } },
    ],
    // Two more workers than there are cores, because tests wait a third of the time, end-to-end tests most of it.
    maxWorkers: availableParallelism() + 2,
    // A busy machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 10 } },
    env: { TZ: 'America/New_York' },
    // Transformed files are kept below node_modules for later runs, which saves a fifth of the CPU of the unit tests.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
  },
});
