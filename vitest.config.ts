import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { foldersOfTests } from './test/support/temporary-folder.ts';

/** Whether `PETSTOCK_PROGRAM` is an executable, which has no files of its own that Node could load. */
const isExecutable = /^(?!.*\.c?js$)./.test(process.env.PETSTOCK_PROGRAM ?? '');

/** The folder for temporary files, in memory if possible. Only the projects of quick tests use it. */
const quick = { TMPDIR: foldersOfTests() };

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
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{e2e,long,system,install,bench}/**'],
          // Loading every module again for each file took half of the CPU. Forks are used, because tests change TZ.
          isolate: false,
          pool: 'forks',
          env: quick,
          // Some tests do real work, which takes longer on a busy machine.
          testTimeout: 20_000,
          globalSetup: ['test/support/postgres.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          isolate: false,
          pool: 'forks',
          env: quick,
          exclude: isExecutable ? ['test/e2e/loading.test.ts', 'test/e2e/code-cache.test.ts'] : [],
          globalSetup: ['test/support/build.ts', 'test/support/postgres.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        // These tests take long by nature: outages at many moments, failovers, a million pets, releases. The workflow
        // Nightly runs all of them.
        extends: true,
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          globalSetup: ['test/support/build.ts', 'test/support/postgres.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // These tests need programs besides Node: shells, a keyring, a manual. `.ci/packages` lists Debian's packages
        // of them.
        extends: true,
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        // These tests use the package as its users get it. They need the registry, for package managers and releases of
        // Node.
        extends: true,
        test: {
          name: 'install',
          include: ['test/install/**/*.test.ts'],
          globalSetup: ['test/support/tarball.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
    // A busy machine must not fail a test.
    expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 10 } },
    // Gates are saved in the runtime folder, which must not be that of this machine.
    env: { TZ: 'America/New_York', PETSTOCK_RUNTIME_DIR: join(tmpdir(), `petstock-runtime-${process.pid}`) },
  },
});
