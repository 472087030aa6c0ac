import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { foldersOfTests } from './test/support/temporary-folder.ts';

/** What `PETSTOCK_PROGRAM` names has no files of its own that Node could load. */
const isExecutable = /^(?!.*\.c?js$)./.test(process.env.PETSTOCK_PROGRAM ?? '');

/** Not for `long`, which is about disks and memory, nor for what installs. */
const quick = { TMPDIR: foldersOfTests() };

export default defineConfig({
  test: {
    // What is transformed once is kept below node_modules for the runs that follow: a fifth of the CPU of the unit tests.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    // One more than there are cores: most of the end-to-end tests' time is waiting, and a fifth of the unit tests'.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{e2e,long,system,install,bench}/**'],
          // Loading every module again for every file took half of the CPU. Forks, since tests change TZ.
          isolate: false,
          pool: 'forks',
          env: quick,
          // Some do real work on a real disk; a machine that is busy with other things is no fault of theirs.
          testTimeout: 20_000,
          globalSetup: ['test/support/postgres.ts'],
        },
      },
      {
        // The transport over undici's public entry has to do what it does over the files of undici that the program takes.
        extends: true,
        test: {
          name: 'public-undici',
          include: ['test/api/*.test.ts'],
          isolate: false,
          pool: 'forks',
          env: { ...quick, UNDICI: 'public' },
          testTimeout: 20_000,
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
        // Long by nature: outages at many instants, failovers, a million pets, releases. CI runs it, a desk need not.
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
        // With programs of the system beside Node: shells, a keyring, a manual. `.ci/packages` names those of Debian.
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
        // The package as its users get it. Takes the registry, for package managers and releases of Node.
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
    // A machine that is busy with other things is no fault of the test.
    expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 10 } },
    // Gates go to the runtime folder: not to that of this machine.
    env: { TZ: 'America/New_York', PETSTOCK_RUNTIME_DIR: join(tmpdir(), `petstock-runtime-${process.pid}`) },
  },
});
