import { writeSync } from 'node:fs';
import type { TableCommand } from '../src/cli/completion/command-table.ts';
import { answerText, complete, type Knowledge } from '../src/cli/completion/complete.ts';

/** The completion table of the commands, as JSON. The build inserts it here; the sources have none. */
declare const COMPLETION_TABLE: string;

/**
 * Answers a script of `petstock completion`: `__complete <shell> :<current word> [words before it…]`. The colon is
 * needed because some shells drop an empty word. Sends nothing, needs no key, and writes nothing to stderr, because
 * that would appear in the middle of the line being typed.
 */
export async function answerShell([shell = '', marked = ':', ...words]: readonly string[]): Promise<void> {
  try {
    const current = marked.slice(1);
    const table: TableCommand = JSON.parse(COMPLETION_TABLE);
    const found = await complete(table, { words, current }, knowledge);
    writeSync(1, answerText(found, shell, current));
  } catch {
    // The shell then suggests nothing.
  }
}

/** Loads the code that reads this machine only if needed, because the table covers most completions. */
const knowledge: Knowledge = async (what, typed) => {
  const [{ createKnowledge }, { foldersOf }] = await Promise.all([
    import('../src/cli/completion/knowledge.ts'),
    import('./process-folders.ts'),
  ]);
  const { env } = process;
  return createKnowledge({ folders: foldersOf(env), env, now: Date.now() })(what, typed);
};
