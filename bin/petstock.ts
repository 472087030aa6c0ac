#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { version } from '../src/shared/version.ts';
import { showQuickHelp } from './quick-help.ts';

/** Node 20 keeps nothing that it compiles, and an executable has it compiled already. */
const cachesCode = !process.versions.node.startsWith('20.') && process.versions.bun === undefined;

void start(process.argv.slice(2));

async function start(words: readonly string[]): Promise<void> {
  if (tellsVersion(words)) return;
  if (words[0] === '__complete') return (await import('./complete.ts')).answerShell(words.slice(1));
  if (await showQuickHelp(words)) return;
  if (cachesCode) await (await import('./compile-cache.ts')).useCompileCache();
  const { run } = await import('./run.ts');
  process.exitCode = await run();
}

/** Scripts ask for the version alone, and often; the rest of the program would take longer to load than Node to start. */
function tellsVersion([only, ...others]: readonly string[]): boolean {
  if (others.length > 0 || (only !== '--version' && only !== '-V')) return false;
  try {
    writeSync(1, `${version}\n`);
    return true;
  } catch {
    // The program knows what to do with a closed pipe and a full disk.
    return false;
  }
}
