import { counted } from '../../../inventory/items.ts';
import type { RunRecord } from '../../../inventory/run-records.ts';
import { historyRecordView, writtenText } from '../../../output/history-views.ts';
import { UsageError } from '../../../shared/errors.ts';
import { petstock } from '../../../shared/hint.ts';
import type { History } from '../../../state/history.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { existingState, userOf } from '../../invocation/state-access.ts';
import { define } from '../command.ts';
import { findRun } from './selection.ts';

export const historyDiscardCommand = define({
  summary: 'close a run that will not be resumed',
  operands: { '<run>': 'the run, as history list shows it' },
  description:
    'Closes a run that will not be resumed. It stays in the history and can be undone, but hints no longer suggest resuming it, and its file can be ' +
    'applied again. Rows that were not sent become failed. Rows that may have been written stay unknown. Sends nothing.',
  examples: [
    ['petstock history list --state incomplete', 'which runs are incomplete?'],
    ['petstock history discard <run>', 'the last four characters of its id are enough'],
  ],
  run: async function* (invocation, _options, text) {
    const found = await existingState(invocation);
    const { record, history } = await findRun(invocation, found, text);
    const discarded = record.isDiscarded ? record : await discard(invocation, history, record);
    const { messages, results } = invocation;
    const became = record.isDiscarded ? 'was already discarded' : 'is discarded';
    await messages.note(`Run ${record.run} ${became}: ${writtenText(discarded)}.`);
    const { unknown } = discarded.counts;
    if (unknown > 0) {
      const rows = `${counted(unknown, 'row')} ${unknown === 1 ? 'was' : 'were'}`;
      await messages.warn(`It is not known whether ${rows} written: check the stock`);
      await messages.note(`To see which: ${petstock`history show ${record.run} --state unknown`}`);
    }
    if (results.format !== 'table') yield historyRecordView(discarded);
  },
});

/**
 * Discards a run. On a terminal, asks for confirmation.
 * @throws UsageError if the run is done, ConflictError while it is running
 */
async function discard({ questions, context }: Invocation, history: History, run: RunRecord): Promise<RunRecord> {
  if (run.state === 'done') {
    const hint = petstock`history show ${run.run}`;
    throw new UsageError(`Run ${run.run} is done, so it can't be discarded`, { hint });
  }
  if (questions.willAsk()) {
    const question = `Discard run ${run.run.slice(-4)} (${writtenText(run)})?`;
    await questions.confirm({ question, notDone: 'The run was not changed' });
  }
  return history.discard(run.run, { ...context.self, user: userOf(context.env) });
}
