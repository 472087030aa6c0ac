import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { foldersOfTests } from './test/support/temporary-folder.ts';

/** Unit and end-to-end tests have their temporary files in memory if possible, and share the modules of a process. */
const quick = { env: { TMPDIR: foldersOfTests() }, isolate: false, pool: 'forks' } as const;

export default defineConfig({
  test: {
    // Transformed files are kept below node_modules for later runs, which saves a fifth of the CPU of the unit tests.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    // Two more workers than there are cores, because tests wait a third of the time, end-to-end tests most of it.
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        extends: true,
        test: {
          ...quick,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{e2e,long,bench}/**'],
          // Some tests do real work, which takes longer on a busy machine.
          testTimeout: 20_000,
          globalSetup: ['test/support/postgres.ts'],
        },
      },
      {
        // These tests start the built program.
        extends: true,
        test: {
          ...quick,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/build.ts', 'test/support/postgres.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        // These tests take long by nature, such as outages and a million pets, or need other programs (`programs/`,
        // listed in `.ci/packages`) or the registry (`install/`).
        extends: true,
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          globalSetup: ['test/support/build.ts', 'test/support/postgres.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
    // A busy machine must not fail a test.
    expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 10 } },
    env: { TZ: 'America/New_York' },
  },
});
