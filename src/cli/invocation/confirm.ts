import { UsageError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import type { BulkQuestion, GlobalOptions } from './invocation.ts';

/** Asks on a terminal; elsewhere only `--yes` is an answer. */
export async function confirmSingle(context: Context, globals: GlobalOptions, question: string): Promise<void> {
  if (globals.yes) return;
  if (!canAsk(context)) {
    throw new UsageError('This write wants a confirmation (setting "confirm"). Nobody can be asked here: add --yes');
  }
  if (!(await context.prompts.confirm(question))) throw refused();
}

/** As for a single write, or with a word that has to be typed. */
export async function confirmBulk(
  context: Context,
  globals: GlobalOptions,
  { question, typed, stdinIsTaken = false, look }: BulkQuestion,
): Promise<void> {
  if (globals.yes) return;
  if (stdinIsTaken || !canAsk(context)) {
    const why = stdinIsTaken ? 'The file is on stdin, so nobody can be asked' : 'Nobody can be asked here';
    throw new UsageError(`${question} That wants a confirmation. ${why}: add --yes`, { hint: look });
  }
  const agreed =
    typed === undefined
      ? await context.prompts.confirm(question)
      : (await context.prompts.text(`${question} Type ${typed} to go on`)).trim() === typed;
  if (!agreed) throw refused();
}

function canAsk({ stdin, stderr }: Context): boolean {
  return stdin.isTerminal && stderr.isTerminal;
}

function refused(): UsageError {
  return new UsageError('Not confirmed; nothing was written');
}
