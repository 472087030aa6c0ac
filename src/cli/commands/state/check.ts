import type { Command } from 'commander';
import type { View } from '../../../output/view.ts';
import { FailureError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state.ts';
import { examples } from '../command.ts';

export function defineStateCheck(command: Command, run: Run): void {
  command
    .description(
      'Reads all of the state and says whether it is sound; exit 1 where it is not. Changes and sends nothing.',
    )
    .addHelpText('after', examples([['petstock state check']]))
    .action(run<object>(check));
}

async function check(invocation: Invocation): Promise<void> {
  await withExistingState(invocation, 'state check', async (state) => {
    const problems = (await state?.check()) ?? [];
    if (problems.length > 0 || invocation.results.wantsJson) await invocation.results.print(checkView(problems));
    if (problems.length > 0) {
      throw new FailureError('The state is damaged', { hint: 'petstock history export history.ndjson' });
    }
    await invocation.messages.note(state === undefined ? 'There is no state yet.' : 'The state is sound.');
  });
}

/** A line for each problem. JSON is `{"sound":false,"problems":["…"]}`. */
function checkView(problems: readonly string[]): View {
  return {
    shape: 'list',
    columns: [{ field: 'problem', title: 'Problem', whole: true }],
    rows: [problems.map((problem) => ({ problem }))],
    json: { sound: problems.length === 0, problems },
  };
}
