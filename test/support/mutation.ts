import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../../.ci/commands.ts';
import { changedFiles } from './changed-files.ts';

/**
 * `npm run mutation [file…]`: changes the rules on which stock and keys depend, one by one, and fails if the tests of
 * the same group notice too few of the changes (with `stryker.config.mjs`). `npm run mutation:changed` takes the files
 * that differ from main, and passes at once if there are none. Stryker is installed once, beside the packages of the
 * lock file.
 *
 * Each group has the files to mutate, and the quick tests that have to notice the mutants. A `place` that ends in `/`
 * is a folder. `least` is the share of killed mutants in percent below which a run fails; it rises with the share that
 * is reached.
 */
const groups = [
  {
    place: 'src/state/decide.ts',
    tests: ['test/state/decide.property.test.ts', 'test/state/pet-writes.test.ts'],
    least: 96,
  },
  {
    place: 'src/rate-limit/',
    tests: ['test/rate-limit/!(*simulation).test.ts', 'test/cli/kept-gates.test.ts'],
    least: 77,
  },
  {
    place: 'src/writes/',
    tests: ['test/writes/*.test.ts', 'test/cli/runs/{increments,stopped,outcomes,later-writes}.test.ts'],
    least: 80,
  },
  {
    place: 'src/runs/',
    tests: ['test/runs/*.test.ts', 'test/cli/runs/!(*.property).test.ts', 'test/cli/commands/undo.test.ts'],
    least: 84,
  },
  {
    place: 'src/counts/',
    tests: ['test/counts/*.test.ts', 'test/cli/commands/inventory/count/*.test.ts'],
    least: 82,
  },
  {
    place: 'src/change-files/',
    tests: ['test/change-files/*.test.ts', 'test/cli/commands/inventory/{apply,codes,columns,cut-off}.test.ts'],
    least: 78,
  },
  {
    place: 'src/settings/resolve.ts',
    tests: ['test/settings/{key-origin,keys,resolve,stores}.test.ts', 'test/cli/commands/globals.test.ts'],
    least: 97,
  },
  { place: 'src/api/', tests: ['test/api/**/*.test.ts'], least: 80 },
  {
    place: 'src/output/',
    tests: [
      'test/output/*.test.ts',
      'test/cli/commands/*.test.ts',
      'test/cli/commands/inventory/{diff,list,watch}.test.ts',
    ],
    least: 80,
  },
  { place: 'src/shared/', tests: ['test/shared/*.test.ts', 'test/settings/*.test.ts'], least: 78 },
  // Tests that need PostgreSQL are excluded, because mutants are tried without it.
  {
    place: 'src/service/!(storage)/',
    tests: ['test/service/!(storage|processes|migrations).test.ts'],
    least: 77,
  },
];

const folder = join(root, 'node_modules/.cache/stryker');
const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const packages = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];
const given = process.argv.slice(2).filter((arg) => arg !== '--changed');
const isChanged = process.argv.includes('--changed');
// Without a main branch, every file may have changed.
const chosen = given.length > 0 ? given : isChanged ? changedFiles() : undefined;

for (const { place, tests, least } of groups) {
  const all = place.endsWith('/') ? `${place}**/*.ts` : place;
  const files = chosen?.filter((name) => name.startsWith(place) && existsSync(name)) ?? [all];
  if (files.length === 0) continue;
  if (!existsSync(stryker)) {
    // The runner finds vitest in the packages above its folder.
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
    run('npm', ['install', '--prefix', folder, ...flags, ...packages]);
  }
  run(process.execPath, [stryker, 'run', 'stryker.config.mjs', '--mutate', files.join()], {
    // Stryker runs tests in threads, which can't set the time zone of their process.
    TZ: 'America/New_York',
    PETSTOCK_MUTATION_TESTS: tests.join(' '),
    PETSTOCK_MUTATION_LEAST: `${least}`,
    PETSTOCK_MUTATION_MEMORY: join(folder, `${place.replaceAll('/', '-')}.json`),
  });
}
if (chosen?.every((name) => !groups.some(({ place }) => name.startsWith(place))))
  process.stdout.write('No rule that mutants are made of has changed.\n');

/** Runs a command. All groups are run; the first failure sets the exit code. */
function run(command: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const shell = process.platform === 'win32';
  const { status } = spawnSync(command, words, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit', shell });
  process.exitCode ||= status ?? 1;
}
