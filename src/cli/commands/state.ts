import { grouped } from '../../inventory/items.ts';
import { isoTime, localTime } from '../../output/time.ts';
import { factsView, type Row, type View } from '../../output/view.ts';
import { maskDatabaseUrl } from '../../shared/database-url.ts';
import { FailureError, UsageError } from '../../shared/errors.ts';
import type { PresentProcess } from '../../state/living-processes.ts';
import type { StateDescription } from '../../state/state.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { sharedStateOf, stateOptions, withExistingState } from '../invocation/state-access.ts';
import { define } from './define.ts';
import { printOutcome } from './print-record.ts';

export const defineStateInfo = define({
  description:
    'Shows the location of the state, its engine and size, and the processes that are using it now. Sends nothing.',
  examples: [['petstock state info'], ['petstock state info --json']],
  action: async (invocation) => {
    const { context, messages, results } = invocation;
    await withExistingState(invocation, async (state) => {
      if (state === undefined) await messages.note('There is no state yet. The first request creates it.');
      const url = sharedStateOf(invocation)?.value;
      const location = url === undefined ? context.folders.state : maskDatabaseUrl(url);
      const none = { engine: null, location, schema: null, bytes: 0, runs: 0, rows: 0 };
      const [described, present] = [(await state?.describe()) ?? none, (await state?.presence.list()) ?? []];
      await results.print(infoView(described, present, context.clock.now()));
    });
  },
});

/**
 * Returns a view with one value per line in a table, and one row in CSV and TSV, with the number of processes present.
 * JSON is `{"engine","location","schema","bytes","runs","rows","present":[{"command","user","host","pid","since"}]}`,
 * for a shared state also `clockAhead` (milliseconds) and `warnings`.
 */
function infoView(
  described: Omit<StateDescription, 'engine' | 'schema'> & {
    readonly engine: string | null;
    readonly schema: number | null;
  },
  processes: readonly PresentProcess[],
  now: number,
): View {
  const { engine, location, schema, bytes, runs, rows } = described;
  const present = processes.map(({ command, user = null, process, since }) => {
    return { command, user, host: process.host, pid: process.pid, since: isoTime(since) };
  });
  const { clockAhead, warnings = [] } = described;
  const lines: Row[] = [
    { name: 'location', value: location },
    { name: 'engine', value: engine === null ? 'none yet' : `${engine}, schema ${schema}` },
    { name: 'size', value: sizeText(bytes) },
    { name: 'runs', value: grouped(runs) },
    { name: 'rows', value: grouped(rows) },
    ...(clockAhead === undefined ? [] : [{ name: 'clock', value: clockText(clockAhead) }]),
    ...warnings.map((value) => ({ name: 'warning', value })),
    ...processes.map(({ command, user, process, since }) => {
      const who = `${user === undefined ? '' : `${user}, `}pid ${process.pid} on ${process.host}`;
      return { name: 'present', value: `${command}, ${who}, since ${localTime(since, now)}` };
    }),
  ];
  const facts = { engine, location, schema, bytes, runs, rows };
  const flat = { ...facts, present: present.length, ...(clockAhead !== undefined && { clockAhead }) };
  return factsView(flat, lines, { ...facts, present, ...(clockAhead !== undefined && { clockAhead, warnings }) });
}

/** Returns the state's clock as a text like `1.2 s ahead of this machine's`. */
function clockText(ms: number): string {
  if (Math.abs(ms) < 100) return "the same as this machine's";
  return `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} this machine's`;
}

/** Returns a text like `812 bytes`, `40 KB` or `1.2 MB`. */
function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${grouped(bytes)} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export const defineStateCheck = define({
  description: 'Checks the whole state and exits with code 1 if it is damaged. Changes and sends nothing.',
  examples: [['petstock state check']],
  action: async (invocation) => {
    const { results, messages } = invocation;
    const { problems, sentence } = await findingsOf(invocation);
    if (problems.length > 0 || results.isFormatNamed) await results.print(checkView(problems));
    if (problems.length > 0) {
      throw new FailureError('The state is damaged', { hint: 'petstock history export history.ndjson' });
    }
    await messages.note(sentence);
  },
});

/**
 * Checks the state in use; if the state is shared, also this machine's own state.
 * @throws the error of a state that can't be opened
 */
async function findingsOf(invocation: Invocation) {
  try {
    const found = await withExistingState(invocation, async (state) => state?.check() ?? 'There is no state yet.');
    const isShared = sharedStateOf(invocation) !== undefined;
    const own = isShared
      ? await withExistingState(invocation, async (state) => state?.check() ?? [], { isOwn: true })
      : [];
    return {
      problems: [...(typeof found === 'string' ? [] : found), ...own],
      sentence: typeof found === 'string' ? found : 'The state is sound.',
    };
  } catch (error) {
    if (error instanceof FailureError && invocation.results.isFormatNamed)
      await invocation.results.print(checkView([error.message]));
    throw error;
  }
}

/** Returns a view with a line for each problem. JSON is `{"sound":false,"problems":["…"]}`. */
function checkView(problems: readonly string[]): View {
  return {
    shape: 'list',
    columns: [{ field: 'problem', title: 'Problem', whole: true }],
    rows: [problems.map((problem) => ({ problem }))],
    json: { sound: problems.length === 0, problems },
  };
}

export const defineStateInit = define({
  description:
    'Creates the tables of the shared state (PETSTOCK_STATE_URL or the setting state-url), if they are missing. The role that runs this command ' +
    'owns them. Sends nothing.',
  examples: [['PETSTOCK_STATE_URL="$OWNER_URL" petstock state init']],
  action: async (invocation) => {
    if (sharedStateOf(invocation) === undefined) {
      throw new UsageError(
        "No shared state is set. This machine's own state needs no init, because the first request creates it",
        { hint: 'petstock config set state-url' },
      );
    }
    const existed = await withExistingState(invocation, async (state) => state !== undefined);
    const { openState } = await import('../../state/open-state.ts');
    const state = await openState(stateOptions(invocation, 'history'));
    try {
      const { engine, location, schema } = await state.describe();
      await invocation.messages.note(
        existed ? `The shared state at ${location} already exists.` : `The shared state at ${location} was created.`,
      );
      await printOutcome(invocation, { engine, location, schema, made: !existed });
    } finally {
      await state.close();
    }
  },
});
