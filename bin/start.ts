import { writeSync } from 'node:fs';
import { version } from '../src/shared/version.ts';

/** The parts of the program, each loaded when it is wanted. */
interface Parts {
  completion(): Promise<typeof import('./complete.ts')>;
  program(): Promise<typeof import('./run.ts')>;
}

/** Runs the command line of this process. Scripts ask for the version alone, shells for completions: neither needs the program. */
export async function start(words: readonly string[], parts: Parts): Promise<void> {
  if (tellsVersion(words)) return;
  if (words[0] === '__complete') return (await parts.completion()).answerShell(words.slice(1));
  process.exitCode = await (await parts.program()).run();
}

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
