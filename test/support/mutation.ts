import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../../.ci/commands.ts';
import { changedFiles } from './changed-files.ts';

/**
 * `npm run mutation [file…]`: changes the rules that stock and keys depend on, one by one, and fails if too few of the changes
 * are noticed by the tests of their room (with `stryker.config.mjs`). `npm run mutation:changed` takes the files that differ from
 * main, and passes at once if there are none. Stryker is brought once, beside the packages of the lock file.
 *
 * What mutants are made of, and the tests that have to notice them: the quick ones of the same room. A place that ends in `/` is
 * a folder. `least` is the share of mutants in percent below which a run fails; it rises with what is reached.
 */
const rooms = [
  {
    place: 'src/state/decide.ts',
    tests: ['test/state/decide.property.test.ts', 'test/state/pet-writes.test.ts'],
    least: 92,
  },
  {
    place: 'src/rate-limit/',
    tests: ['test/rate-limit/!(*simulation).test.ts', 'test/cli/kept-gates.test.ts'],
    least: 75,
  },
  {
    place: 'src/writes/',
    tests: ['test/writes/*.test.ts', 'test/cli/runs/{increments,stopped,outcomes,later-writes}.test.ts'],
    least: 70,
  },
  {
    place: 'src/runs/',
    tests: ['test/runs/*.test.ts', 'test/cli/runs/!(*.property).test.ts', 'test/cli/commands/undo.test.ts'],
    least: 70,
  },
  {
    place: 'src/counts/',
    tests: ['test/counts/*.test.ts', 'test/cli/commands/inventory/count/*.test.ts'],
    least: 70,
  },
  {
    place: 'src/change-files/',
    tests: ['test/change-files/*.test.ts', 'test/cli/commands/inventory/{apply,codes,columns,cut-off}.test.ts'],
    least: 70,
  },
  {
    place: 'src/settings/resolve.ts',
    tests: ['test/settings/{key-origin,keys,resolve,stores}.test.ts', 'test/cli/commands/globals.test.ts'],
    least: 70,
  },
  { place: 'src/api/', tests: ['test/api/**/*.test.ts'], least: 70 },
  {
    place: 'src/output/',
    tests: [
      'test/output/*.test.ts',
      'test/cli/commands/*.test.ts',
      'test/cli/commands/inventory/{diff,list,watch}.test.ts',
    ],
    least: 70,
  },
  { place: 'src/shared/', tests: ['test/shared/*.test.ts', 'test/settings/*.test.ts'], least: 70 },
  // Without PostgreSQL, which is missing where mutants are tried.
  {
    place: 'src/service/!(storage)/',
    tests: ['test/service/!(storage|processes|migrations).test.ts'],
    least: 70,
  },
];

const folder = join(root, 'node_modules/.cache/stryker');
const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const packages = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];
const given = process.argv.slice(2).filter((arg) => arg !== '--changed');
const isChanged = process.argv.includes('--changed');
// Without a main branch nothing is known to be unchanged.
const chosen = given.length > 0 ? given : isChanged ? changedFiles() : undefined;

for (const { place, tests, least } of rooms) {
  const all = place.endsWith('/') ? `${place}**/*.ts` : place;
  const files = chosen?.filter((name) => name.startsWith(place) && existsSync(name)) ?? [all];
  if (files.length === 0) continue;
  if (!existsSync(stryker)) {
    // The runner finds vitest in the packages around it.
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
    run('npm', ['install', '--prefix', folder, ...flags, ...packages]);
  }
  run(process.execPath, [stryker, 'run', 'stryker.config.mjs', '--mutate', files.join()], {
    // Stryker runs tests in threads, which can't set the zone of their process.
    TZ: 'America/New_York',
    PETSTOCK_MUTATION_TESTS: tests.join(' '),
    PETSTOCK_MUTATION_LEAST: `${least}`,
    PETSTOCK_MUTATION_MEMORY: join(folder, `${place.replaceAll('/', '-')}.json`),
  });
}
if (chosen?.every((name) => !rooms.some(({ place }) => name.startsWith(place))))
  process.stdout.write('No rule that mutants are made of has changed.\n');

/** Every room is run; the first failure counts. */
function run(command: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const shell = process.platform === 'win32';
  const { status } = spawnSync(command, words, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit', shell });
  process.exitCode ||= status ?? 1;
}
