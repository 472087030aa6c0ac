import type { Command } from 'commander';
import { damagedSessions } from '../../../counts/sessions.ts';
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
  const { problems, sentence, hint } = await findingsOf(invocation);
  if (problems.length > 0 || results.wantsJson) await results.print(checkView(problems));
  if (problems.length > 0) throw new FailureError('The state is damaged', { hint });
  await messages.note(sentence);
}

/** @throws the error of a state that can't be opened */
async function findingsOf(invocation: Invocation) {
  try {
    const found = await withExistingState(invocation, async (state) => state?.check() ?? 'There is no state yet.');
    const isShared = sharedStateOf(invocation) !== undefined;
    const own = isShared ? await withOwnState(invocation, async (state) => state?.check() ?? []) : [];
    const sessions = await withOwnTables(invocation, damagedSessions);
    const problems = [...(typeof found === 'string' ? [] : found), ...own];
    const [first] = problems.length === 0 ? sessions : [];
    return {
      problems: [...problems, ...sessions.map(({ message }) => message)],
      sentence: typeof found === 'string' ? found : 'The state is sound.',
      hint:
        first === undefined
          ? 'petstock history export history.ndjson'
          : `petstock inventory count --discard ${first.session.slice(-4)}`,
    };
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
