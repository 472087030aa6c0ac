import type { Command } from 'commander';
import { historyListView } from '../../../output/history-list-view.ts';
import type { History, RecordedRow, RunFilter, RunRecord } from '../../../state/history.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { sharedStateOf, withExistingState } from '../../invocation/state.ts';
import { userOf } from '../../invocation/user.ts';
import { examples } from '../command.ts';
import { oneOf, petIdOf, wholeNumberOf } from '../values.ts';
import { chosenPlace } from './chosen-place.ts';
import { parseDate } from './parse-date.ts';

interface ListOptions {
  readonly pet?: string;
  readonly since?: string;
  readonly until?: string;
  readonly state?: string;
  readonly mine?: boolean;
  readonly limit?: string;
}

/** As many runs as a person looks through. */
const shownOnTerminal = 20;
/** What `--state` takes. */
export const runStates = ['running', 'incomplete', 'done'] as const;

export function defineHistoryList(command: Command, run: Run): void {
  command
    .description(
      'Lists what was written from this machine, or, with a shared state, from all of them, the latest first: in every ' +
        'environment, unless --env names one. Sends nothing.',
    )
    .option('--limit <n>', `at most this many (default: ${shownOnTerminal} on a terminal, else all)`)
    .option('--pet <id>', 'only runs that changed this pet')
    .option('--since <date>', 'only runs from this time on: 2026-01-15, 2026-01-15T09:30, or 7d, 12h, 30min ago')
    .option('--until <date>', 'only runs up to this time')
    .option('--state <state>', `only runs that are ${runStates.join(', ')}`)
    .option('--mine', 'only runs of the user who asks, from any machine')
    .addHelpText(
      'after',
      examples([
        ['petstock history list'],
        ['petstock history list --pet 4 --since 7d', 'who has changed it this week?'],
        ['petstock history list --state incomplete', 'which ones can be resumed?'],
        ['petstock history list --mine --since 7d', 'what have I written this week?'],
        ['petstock history list --env production --json'],
      ]),
    )
    .action(run<ListOptions>(list));
}

async function list(invocation: Invocation, options: ListOptions): Promise<void> {
  const filter = filterOf(invocation, options);
  const chosen = wholeNumberOf('--limit', options.limit);
  const limit = chosen ?? (invocation.context.stdout.isTerminal ? shownOnTerminal : undefined);
  await withExistingState(invocation, 'history list', async (state) => {
    const history = state?.history;
    const shown = upTo(history, filter, limit);
    const isShared = sharedStateOf(invocation) !== undefined;
    await invocation.results.print(historyListView(shown.runs, (id) => firstRow(history, id), isShared));
    if (chosen === undefined && shown.hasMore()) {
      await invocation.messages.note(
        `These are the latest ${shownOnTerminal} runs. To see more: petstock history list --limit 100`,
      );
    }
  });
}

function filterOf(invocation: Invocation, options: ListOptions): RunFilter {
  const now = invocation.context.clock.now();
  return {
    ...chosenPlace(invocation),
    petId: options.pet === undefined ? undefined : petIdOf(options.pet),
    since: parseDate('--since', options.since, now, 'start'),
    until: parseDate('--until', options.until, now, 'end'),
    state: options.state === undefined ? undefined : oneOf('--state', options.state, runStates),
    by: options.mine === true ? callerOf(invocation.context) : undefined,
  };
}

/** By the name of the user; one that has none is known by its machine. */
function callerOf({ env, processes }: Invocation['context']): RunFilter['by'] {
  const user = userOf(env);
  return user === undefined ? { host: processes.self.host } : { user };
}

/** At most `limit` runs, and, once they are read, whether there are more. */
function upTo(history: History | undefined, filter: RunFilter, limit: number | undefined) {
  let more = false;
  async function* runs(): AsyncGenerator<RunRecord> {
    if (history === undefined || limit === 0) return;
    let count = 0;
    for await (const record of history.runs({ ...filter, limit: limit === undefined ? undefined : limit + 1 })) {
      count += 1;
      more = limit !== undefined && count > limit;
      if (more) return;
      yield record;
    }
  }
  return { runs, hasMore: () => more };
}

async function firstRow(history: History | undefined, run: string): Promise<RecordedRow | undefined> {
  if (history === undefined) return undefined;
  for await (const row of history.rows(run)) return row;
  return undefined;
}
