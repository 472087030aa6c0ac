import type { Command } from 'commander';
import { readRun } from '../../../history/run-file.ts';
import { undoneRows } from '../../../history/runs.ts';
import { historyRunLines, historyRunView } from '../../../output/history-view.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';

export function defineHistoryShow(command: Command, run: Run): void {
  command
    .argument('<run>', 'the run, as history list shows it')
    .description('Shows each row of a run: what it wanted, and what became of it. Sends nothing.')
    .addHelpText(
      'after',
      examples([
        ['petstock history show 20260115T120020Z-k3x9'],
        ['petstock history show k3x9 -o csv', 'the last four characters are enough'],
      ]),
    )
    .action(
      run<object>(async (invocation, _options, runId) => {
        const { state } = invocation.context.folders;
        const recorded = readRun(state, runId);
        const undone = undoneRows(state, recorded.run);
        const shown = { ...recorded, undoneBy: [...new Set(undone.values())], undone: undone.size };
        for (const line of historyRunLines(shown)) await invocation.note(line);
        if (recorded.planned && recorded.rows.some(({ state }) => state === 'pending' || state === 'open')) {
          await invocation.note(`To go on: petstock inventory apply --resume ${recorded.run} --env ${recorded.env}`);
        }
        await invocation.print(historyRunView(shown));
      }),
    );
}
