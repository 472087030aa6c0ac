import type { Command } from 'commander';
import { sessionProblems } from '../../../counts/sessions.ts';
import type { View } from '../../../output/view.ts';
import { FailureError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { sharedStateOf, withExistingState, withOwnState, withOwnTables } from '../../invocation/state.ts';
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
  const { results, messages } = invocation;
  const problems = await problemsOf(invocation);
  const found = typeof problems === 'string' ? [] : problems;
  if (found.length > 0 || results.wantsJson) await results.print(checkView(found));
  if (found.length > 0)
    throw new FailureError('The state is damaged', { hint: 'petstock history export history.ndjson' });
  await messages.note(typeof problems === 'string' ? problems : 'The state is sound.');
}

/** Returns what is wrong with the state, or a sentence if there is none. @throws the error of a state that can't be opened */
async function problemsOf(invocation: Invocation): Promise<readonly string[] | string> {
  try {
    const found = await withExistingState(invocation, async (state) => state?.check() ?? 'There is no state yet.');
    const isShared = sharedStateOf(invocation) !== undefined;
    const own = isShared ? await withOwnState(invocation, async (state) => state?.check() ?? []) : [];
    const problems = [...own, ...(await withOwnTables(invocation, sessionProblems))];
    return problems.length === 0 ? found : [...(typeof found === 'string' ? [] : found), ...problems];
  } catch (error) {
    if (error instanceof FailureError && invocation.results.wantsJson)
      await invocation.results.print(checkView([error.message]));
    throw error;
  }
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
