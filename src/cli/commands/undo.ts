import { UsageError } from '../../shared/errors.ts';
import { define } from './command.ts';
import { bulkOptions, parseBulkFlags } from './values.ts';

export const defineUndo = define({
  operands: { '[run]': 'the run, as history list shows it' },
  description:
    'Takes back what a run has written: sets each stock to what it was before, but only if it is still what the run ' +
    'wrote and no other run has written the pet since; anything else is a conflict, and stays. It is a run of its own ' +
    'in the history. What was taken back is not taken back twice. Takes one request, and one for each row.',
  options: [
    [
      '--last',
      'the latest run of this environment that can be taken back; it says which runs it passes over. With a shared state, of yours on this machine',
    ],
    ['--reason <text>', 'why, for the history'],
    ['--ref <text>', 'a number or name of your own, for the history'],
    ...bulkOptions,
  ],
  examples: [
    ['petstock undo --last', 'shows which run that is, and asks'],
    ['petstock undo --last --dry-run', 'see what it would do'],
    ['petstock undo <run>', 'the last four characters of its id are enough'],
  ],
  action: async (invocation, { last = false, reason, ref, ...flags }, runId?: string) => {
    if (last === (runId !== undefined)) {
      const message = last ? 'A run and --last are both given: leave one out' : 'Missing run: name one, or pass --last';
      throw new UsageError(message, { hint: 'petstock history list' });
    }
    const options = { ...parseBulkFlags(invocation, flags), stdinIsTaken: false, reason, ref };
    const { undoLastRun, undoRun } = await import('../runs/undo.ts');
    await (runId === undefined ? undoLastRun(invocation, options) : undoRun(invocation, runId, options));
  },
});
