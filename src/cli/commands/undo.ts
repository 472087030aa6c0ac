import type { Command } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import type { Invocation, Run } from '../invocation/invocation.ts';
import { type BulkFlags, bulkFlags, parseBulkFlags } from './bulk-flags.ts';
import { examples } from './command.ts';

interface UndoOptions extends BulkFlags {
  readonly last?: boolean;
}

export function defineUndo(command: Command, run: Run): void {
  command
    .argument('[run]', 'the run, as history list shows it')
    .description(
      'Takes back what a run has written: sets each stock to what it was before, but only where it is still what the run ' +
        'wrote and no other run has written the pet since; anything else is a conflict, and stays. It is a run of its own ' +
        'in the history. What was taken back is not taken back twice. Takes one request, and one for each row.',
    )
    .option(
      '--last',
      'the latest run of this environment that has written something and was not taken back; with a shared state, of yours on this machine',
    );
  bulkFlags(command)
    .addHelpText(
      'after',
      examples([
        ['petstock undo --last', 'shows which run that is, and asks'],
        ['petstock undo --last --dry-run', 'see what it would do'],
        ['petstock undo <run>', 'the last four characters of its id are enough'],
      ]),
    )
    .action(run<UndoOptions>(undo));
}

async function undo(invocation: Invocation, { last = false, ...flags }: UndoOptions, runId?: string): Promise<void> {
  if (last === (runId !== undefined)) {
    const message = last ? 'A run and --last are both given: leave one out' : 'Missing run: name one, or pass --last';
    throw new UsageError(message, { hint: 'petstock history list' });
  }
  const options = parseBulkFlags(invocation, flags);
  const { undoLastRun, undoRun } = await import('../runs/undo-run.ts');
  const planOptions = { ...options, stdinIsTaken: false };
  await (runId === undefined ? undoLastRun(invocation, planOptions) : undoRun(invocation, runId, planOptions));
}
