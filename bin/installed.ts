#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { version } from '../src/shared/version.ts';

/**
 * The entry point of the npm package, built to `dist/petstock.cjs`. Its other scripts are in the same folder. The
 * program is not loaded for `--version`, or to complete a word.
 */
async function start(words: readonly string[]): Promise<void> {
  if (showsVersion(words)) return;
  if (words[0] === '__complete') {
    const { answerShell }: typeof import('./answer-shell.ts') = require('./answer-shell.cjs');
    return answerShell(words.slice(1));
  }
  const { loadCached } = await import('./code-cache.ts');
  // Without the code cache, this would be `require('./program.cjs')`.
  const { run } = loadCached<typeof import('./run.ts')>('./program.cjs', words, require);
  process.exitCode = await run();
}

function showsVersion([only, ...others]: readonly string[]): boolean {
  if (others.length > 0 || (only !== '--version' && only !== '-V')) return false;
  try {
    writeSync(1, `${version}\n`);
    return true;
  } catch {
    // The program handles closed pipes and full disks.
    return false;
  }
}

void start(process.argv.slice(2));
