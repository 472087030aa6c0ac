import type { Command } from 'commander';
import { historyRunFacts, historyRunHints, historyRunView } from '../../../output/history-run-view.ts';
import { NotFoundError } from '../../../shared/errors.ts';
import type { RecordedResult } from '../../../state/history.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state.ts';
import { examples, fieldsOption } from '../command.ts';
import { collect, oneOf } from '../values.ts';
import { shopNames } from './selection.ts';

interface ShowOptions {
  readonly state?: readonly string[];
}

/** The values of `--state`. */
export const rowResults = ['pending', 'applied', 'unchanged', 'failed', 'conflict', 'differs', 'unknown'] as const;

export function defineHistoryShow(command: Command, run: Run): void {
  command
    .argument('<run>', 'the run, as history list shows it')
    .description('Shows each row of a run: the stock before and after it, and its result. Sends nothing.')
    .option('--state <result,…>', `only rows that are ${rowResults.join(', ')}`, collect)
    .option(...fieldsOption)
    .addHelpText(
      'after',
      examples([
        ['petstock history show <run>'],
        ['petstock history show <run> --state failed,unknown', 'the last four characters of its id are enough'],
        ['petstock history show <run> -o csv'],
        ['petstock history show <run> -o html > run.html', 'a page to print'],
      ]),
    )
    .action(run<ShowOptions>(show));
}

async function show(invocation: Invocation, options: ShowOptions, text = ''): Promise<void> {
  const chosen: readonly RecordedResult[] | undefined = options.state
    ?.flatMap((list) => list.split(','))
    .map((word) => oneOf('--state', word.trim(), rowResults));
  await withExistingState(invocation, async (state) => {
    if (state === undefined) {
      throw new NotFoundError(`There is no run "${text}": the history is empty`, { hint: 'petstock history list' });
    }
    const { history } = state;
    const record = await history.run(await history.find(text));
    const { messages, results, context } = invocation;
    const isPage = results.format === 'html';
    if (!isPage) {
      const { own, words } = historyRunFacts(record);
      for (const line of own) await messages.note(line);
      for (const line of words) await messages.quote(line);
    }
    const options = { names: await shopNames(invocation), now: context.clock.now() };
    await results.print(historyRunView(record, () => history.rows(record.run, chosen), options));
    if (!isPage) for (const hint of historyRunHints(record)) await messages.note(hint);
  });
}
