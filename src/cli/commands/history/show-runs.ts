import { type RunFilter, type RunRecord, runStates } from '../../../inventory/run-records.ts';
import {
  historyListView,
  historyRunFacts,
  historyRunHints,
  historyRunView,
  rowFields,
  runFields,
} from '../../../output/history-views.ts';
import { localMinute } from '../../../output/time.ts';
import { withPage } from '../../../output/view.ts';
import { petstock, targetName, targetWords, withOption } from '../../../shared/hint.ts';
import type { History } from '../../../state/history.ts';
import { namedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { existingState, sharedStateOf } from '../../invocation/state-access.ts';
import { define, fieldsOptionOf, known, listOf, type OptionsOf, oneOf, optionRows, wholeNumber } from '../command.ts';
import { chosenPets } from '../option-values.ts';
import { findRun, namedTargetText, periodOf, periodText } from './selection.ts';

const maxShown = 20;

const listOptions = optionRows(
  ['--limit <n>', `list at most this many runs (default: ${maxShown} on a terminal, else all)`, wholeNumber],
  ['--pet <id>', 'only runs that changed this pet, by id or name', listOf(known('pets'))],
  ['--ref <text>', 'only runs that have a row with this ref'],
  ['--user <name>', 'only runs of this user'],
  ['--since <date>', 'only runs from this time on: 2026-01-15, today, yesterday, monday, or 7d, 1w, 12h ago'],
  ['--until <date>', 'only runs up to this time'],
  ['--state <state>', `only runs that are ${runStates.join(', ')}`, oneOf(runStates)],
  fieldsOptionOf(runFields),
);
type ListOptions = OptionsOf<typeof listOptions>;

export const historyListCommand = define({
  summary: 'list the runs, latest first',
  formats: withPage,
  description:
    'Lists the runs of this machine, or of all machines with a shared state, latest first. Lists those of every ' +
    'store and environment, unless --store, --env or a variable chooses one. Sends nothing.',
  options: listOptions,
  examples: [
    ['petstock history list'],
    ['petstock history list --pet 4 --since 7d', 'who changed pet 4 this week?'],
    ['petstock history list --state incomplete', 'which runs can be resumed?'],
    ['petstock history list --env production --json'],
    ['petstock history list --since 7d -o html > week.html', 'a page to print'],
  ],
  run: async function* (invocation, options) {
    const { context, messages } = invocation;
    const filter = await filterOf(invocation, options);
    const chosen = options.limit;
    const limit = chosen ?? (context.stdout.isTerminal ? maxShown : undefined);
    const found = await existingState(invocation);
    const history = found?.history;
    const { runs, seen } = upTo(history, filter, limit);
    const now = context.clock.now();
    const view = historyListView(runs, {
      now,
      rows: async function* (id) {
        if (history !== undefined) yield* history.rows(id);
      },
      target: targetName(invocation.target),
      isShared: sharedStateOf(invocation) !== undefined,
      names: await shownNames(invocation, filter.env),
      page: {
        title: `History of ${namedTargetText(invocation)}${periodText(filter)}${onlyText(options, limit)}`,
        facts: [`Printed ${localMinute(now)}`],
      },
    });
    yield view;
    const open = seen.incomplete;
    if (open !== undefined && context.stdout.isTerminal && context.stderr.isTerminal) {
      await messages.note(`To resume: ${petstock`inventory apply --resume ${open.run} ${targetWords(open)}`}`);
    }
    if (chosen === undefined && seen.more) {
      const more = petstock`${withOption(context.argv, '--limit=100')}`;
      await messages.note(`These are the latest ${maxShown} runs. To see more: ${more}`);
    }
  },
});

/** Describes the selected runs for the heading of a page: `: of pet 4; by kim`. */
function onlyText({ pet, ref, user, state }: ListOptions, limit: number | undefined): string {
  const only = [
    ...(pet === undefined ? [] : [`of pet ${pet.join(', ')}`]),
    ...(ref === undefined ? [] : [`with the reference ${ref}`]),
    ...(user === undefined ? [] : [`by ${user}`]),
    ...(state === undefined ? [] : [state]),
    ...(limit === undefined ? [] : [`the latest ${limit}`]),
  ];
  return only.length === 0 ? '' : `: ${only.join('; ')}`;
}

async function filterOf(invocation: Invocation, options: ListOptions): Promise<RunFilter> {
  return {
    ...namedTarget(invocation),
    ...periodOf(invocation, options),
    petIds: await chosenPets(invocation, options),
    ref: options.ref,
    state: options.state,
    user: options.user,
  };
}

/**
 * Returns a generator of at most `limit` runs, and facts that it fills in: whether there are more runs, and the newest of
 * these runs that can be resumed.
 */
function upTo(history: History | undefined, filter: RunFilter, limit: number | undefined) {
  const seen: { more: boolean; incomplete?: RunRecord } = { more: false };
  async function* runs(): AsyncGenerator<RunRecord> {
    if (history === undefined || limit === 0) return;
    let count = 0;
    for await (const record of history.runs({ ...filter, limit: limit === undefined ? undefined : limit + 1 })) {
      count += 1;
      seen.more = limit !== undefined && count > limit;
      if (seen.more) return;
      if (record.state === 'incomplete') seen.incomplete ??= record;
      yield record;
    }
  }
  return { runs, seen };
}

export const rowResults = ['pending', 'applied', 'unchanged', 'failed', 'conflict', 'differs', 'unknown'] as const;

export const historyShowCommand = define({
  summary: 'show the rows of a run',
  formats: withPage,
  operands: { '<run>': 'the run, as history list shows it' },
  description: 'Shows each row of a run: the stock before and after it, and its result. Sends nothing.',
  options: [
    ['--state <result,…>', `only rows that are ${rowResults.join(', ')}`, listOf(oneOf(rowResults))],
    fieldsOptionOf(rowFields),
  ],
  examples: [
    ['petstock history show <run>'],
    ['petstock history show <run> --state failed,unknown', 'the last four characters of its id are enough'],
    ['petstock history show latest -o csv'],
    ['petstock history show <run> -o html > run.html', 'a page to print'],
  ],
  run: async function* (invocation, { state }, text) {
    const found = await existingState(invocation);
    const { record, history } = await findRun(invocation, found, text);
    const { messages, results, context } = invocation;
    const isPage = results.format === 'html';
    if (!isPage) {
      const { own, words } = historyRunFacts(record);
      for (const line of own) await messages.note(line);
      for (const line of words) await messages.quote(line);
    }
    const options = { names: await shownNames(invocation, record.env), now: context.clock.now() };
    yield historyRunView(record, () => history.rows(record.run, state), options);
    if (isPage) return;
    await warnIfUnclear(invocation, history, record);
    for (const hint of historyRunHints(record, await isBlind(history, record))) await messages.note(hint);
  },
});

/**
 * Reports whether the stock before a run is unknown: a single write did not read it, and the history has no earlier
 * stock of the pet. A run of several pets always reads the stock.
 */
async function isBlind(history: History, run: RunRecord): Promise<boolean> {
  if (run.changes !== 1) return false;
  const { undoable } = await import('../../../writes/plan-undo.ts');
  return (await undoable(history, run)).isBlind;
}

/** Warns if it is not known whether some conflicts of a run were written. */
async function warnIfUnclear({ messages }: Invocation, history: History, run: RunRecord): Promise<void> {
  if (run.counts.conflict === 0) return;
  const { countUnclearRows, mayHaveWritten } = await import('../../../writes/plan-undo.ts');
  const rows = await countUnclearRows(history, run);
  if (rows > 0) await messages.warn(`Run ${run.run} ${mayHaveWritten(rows)}`);
}

/**
 * Returns the names of pets for a table or a page; undefined for any other format. If the setting codes is not set,
 * only the sandbox's pets have names, so it is also undefined unless all shown runs are the sandbox's.
 * @param env the environment of all shown runs; undefined if they may differ
 */
async function shownNames({ results, remarks, config }: Invocation, env: string | undefined) {
  const mayHaveNames = config.settings.codes !== undefined || env === 'sandbox';
  return mayHaveNames && ['table', 'html'].includes(results.format) ? (await remarks('person')).names : undefined;
}
