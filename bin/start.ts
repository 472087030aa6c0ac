import { writeSync } from 'node:fs';
import { version } from '../src/shared/version.ts';

/** The parts of the program, each loaded when it is needed. */
interface Parts {
  completion(): Promise<typeof import('./complete.ts')>;
  program(): Promise<typeof import('./run.ts')>;
}

/** Runs the command line of this process. The program is not loaded for `--version`, or to complete a word. */
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
    // The program handles closed pipes and full disks.
    return false;
  }
}
