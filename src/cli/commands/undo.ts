import type { Command } from 'commander';
import type { Run } from '../invocation/invocation.ts';
import { type BulkFlags, bulkFlags, parseBulkFlags } from './bulk-flags.ts';
import { examples } from './command.ts';

export function defineUndo(command: Command, run: Run): void {
  command
    .argument('<run>', 'the run, as history list shows it')
    .description(
      'Takes back what a run has written: sets each stock to what it was before, but only where it is still what the run ' +
        'wrote and no other run has written the pet since; anything else is a conflict, and stays. It is a run of its own ' +
        'in the history. What was taken back is not taken back twice. Takes one request, and one for each row.',
    );
  bulkFlags(command)
    .addHelpText(
      'after',
      examples([
        ['petstock history list'],
        ['petstock undo 20260115T120020Z-k3x9 --dry-run', 'see what it would do'],
        ['petstock undo k3x9', 'the last four characters are enough'],
      ]),
    )
    .action(
      run<BulkFlags>(async (invocation, flags, runId) => {
        const options = parseBulkFlags(invocation, flags);
        const { undoRun } = await import('../runs/undo-run.ts');
        await undoRun(invocation, runId, { ...options, stdinIsTaken: false });
      }),
    );
}
