import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { changedFiles, root } from './changed-files.ts';

/**
 * `npm run mutation`: changes the rules that stock and keys depend on, one by one, and fails if too few of the changes are
 * noticed by a test. `npm run mutation:changed` takes the files that differ from main, and passes at once if there are none.
 * `npm run mutation -- --mutate src/state/decide.ts` takes one. Stryker is brought once, beside the packages of the lock file.
 */
const folder = fileURLToPath(new URL('node_modules/.cache/stryker', root));
const packages = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];
type Config = { readonly mutated: readonly string[] };
const { mutated } = (await import(new URL('stryker.config.mjs', root).href)) as Config;
const args = process.argv.slice(2).filter((arg) => arg !== '--changed');

if (process.argv.includes('--changed')) {
  const changed = changedFiles();
  const files = changed?.filter((name) => mutated.some((place) => name.startsWith(place)) && existsSync(name));
  if (files?.length === 0) process.stdout.write('No rule that mutants are made of has changed.\n');
  // Without a main branch nothing is known to be unchanged.
  else mutate(files === undefined ? [] : ['--mutate', files.join()]);
} else mutate([]);

function mutate(chosen: readonly string[]): void {
  const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  if (!existsSync(stryker)) {
    // The runner finds vitest in the packages around it.
    const install = [
      'install',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--legacy-peer-deps',
    ];
    run('npm', [...install, ...packages]);
  }
  run(process.execPath, [stryker, 'run', 'stryker.config.mjs', ...chosen, ...args]);
}

function run(command: string, words: readonly string[]): void {
  if (process.exitCode) return;
  // Stryker runs tests in threads, which can't set the zone of their process.
  const env = { ...process.env, TZ: 'America/New_York' };
  const shell = process.platform === 'win32';
  process.exitCode = spawnSync(command, words, { cwd: root, env, stdio: 'inherit', shell }).status ?? 1;
}
