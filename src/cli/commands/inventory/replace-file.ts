import { statSync } from 'node:fs';
import { requireSafePlace } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { WrittenFiles } from '../../written-files.ts';

/**
 * Asks before a file is replaced that petstock did not write, or that was changed since: that may be hours of work. What is no file,
 * such as a pipe, is written to without a question.
 *
 * @param force it may be replaced
 * @throws UsageError where the answer is no, or where it can't be asked; FailureError for a link that is not ours
 */
export async function confirmReplacing(invocation: Invocation, file: string, force: boolean): Promise<void> {
  requireSafePlace(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (force || !found?.isFile() || found.size === 0) return;
  const { context, questions } = invocation;
  if (await new WrittenFiles(context.folders.state).isUnchanged(file)) return;
  const isTerminal = context.stdin.isTerminal && context.stderr.isTerminal;
  if (!isTerminal) {
    throw new UsageError(
      `${file} is there already, and petstock did not write it or it was changed since. Nothing was sent`,
      { hint: `petstock ${[...context.argv, '--force'].map(shellWord).join(' ')}` },
    );
  }
  if (!questions.willAsk() || (await context.prompts.confirm(`${file} is there already. Replace it?`))) return;
  throw new UsageError(`Not confirmed; ${file} is as it was`);
}

/** To be called once it is written: it may be replaced as long as it stays as it is. */
export async function rememberWritten({ context }: Invocation, file: string): Promise<void> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) await new WrittenFiles(context.folders.state).remember(file);
}
