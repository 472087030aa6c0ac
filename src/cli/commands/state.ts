import { grouped } from '../../inventory/items.ts';
import type { RunRecord } from '../../inventory/run-records.ts';
import { isoTime, localTime } from '../../output/time.ts';
import { factsView, type Row, recordView, type View } from '../../output/view.ts';
import { maskDatabaseUrl } from '../../shared/database-url.ts';
import { FailureError, UsageError } from '../../shared/errors.ts';
import { existingState, sharedStateOf, stateOptions } from '../invocation/state-access.ts';
import { type Command, define } from './command.ts';

const info = define({
  summary: 'show where the state is, its size, and who uses it',
  description:
    'Shows the location of the state, its engine and size, and the runs that are being written now. Sends nothing.',
  examples: [['petstock state info'], ['petstock state info --json']],
  run: async function* (invocation) {
    const { context, messages } = invocation;
    const found = await existingState(invocation);
    if (found === undefined) await messages.note('There is no state yet. The first request creates it.');
    const running: RunRecord[] = [];
    for await (const run of found?.history.runs({ state: 'running' }) ?? []) running.push(run);
    const url = sharedStateOf(invocation)?.value;
    const location = url === undefined ? context.folders.state : maskDatabaseUrl(url);
    const described = {
      ...{ engine: null, location, schema: null, bytes: 0 },
      ...(await found?.state.describe()),
      ...((await found?.history.sizes()) ?? { runs: 0, rows: 0 }),
    };
    yield infoView(described, running, context.clock.now());
  },
});

interface DescribedState {
  readonly engine: string | null;
  readonly location: string;
  readonly schema: number | null;
  readonly bytes: number;
  readonly runs: number;
  readonly rows: number;
}

/**
 * Returns a view with one value per line in a table, and one row in CSV and TSV, with the number of runs that are being
 * written. JSON is
 * `{"engine","location","schema","bytes","runs","rows","running":[{"run","command","user","host","pid","at"}]}`.
 */
function infoView(described: DescribedState, running: readonly RunRecord[], now: number): View {
  const { engine, location, schema, bytes, runs, rows } = described;
  const lines: Row[] = [
    { name: 'location', value: location },
    { name: 'engine', value: engine === null ? 'none yet' : `${engine}, schema ${schema}` },
    { name: 'size', value: sizeText(bytes) },
    { name: 'runs', value: grouped(runs) },
    { name: 'rows', value: grouped(rows) },
    ...running.map(({ run, command, user, host, pid, at }) => {
      const who = `${user === undefined ? '' : `${user}, `}pid ${pid} on ${host}`;
      return { name: 'running', value: `${run}: ${command}, ${who}, since ${localTime(at, now)}` };
    }),
  ];
  const facts = { engine, location, schema, bytes, runs, rows };
  const writers = running.map(({ run, command, user = null, host, pid, at }) => {
    return { run, command, user, host, pid, at: isoTime(at) };
  });
  return factsView({ ...facts, running: running.length }, lines, { ...facts, running: writers });
}

/** Returns a text like `812 bytes`, `40 KB` or `1.2 MB`. */
function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${grouped(bytes)} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const check = define({
  summary: 'check whether the state is damaged',
  description: 'Checks the whole state and exits with code 1 if it is damaged. Changes and sends nothing.',
  examples: [['petstock state check']],
  run: async function* (invocation) {
    const { results, messages } = invocation;
    const hint = 'petstock history export history.ndjson';
    try {
      const found = await existingState(invocation);
      const problems = (await found?.history.check()) ?? [];
      if (problems.length > 0 || results.isFormatNamed) yield checkView(problems);
      if (problems.length > 0) throw new DamagedError('The state is damaged', { hint });
      await messages.note(found === undefined ? 'There is no state yet.' : 'The state is sound.');
    } catch (error) {
      const isShown = error instanceof DamagedError || !(error instanceof FailureError);
      if (!isShown && results.isFormatNamed) yield checkView([error.message]);
      throw error;
    }
  },
});

/** Thrown when what is damaged was printed. */
class DamagedError extends FailureError {}

/** Returns a view with a line for each problem. JSON is `{"sound":false,"problems":["…"]}`. */
function checkView(problems: readonly string[]): View {
  return {
    shape: 'list',
    columns: [{ field: 'problem', title: 'Problem', whole: true }],
    rows: [problems.map((problem) => ({ problem }))],
    json: { sound: problems.length === 0, problems },
  };
}

const init = define({
  summary: 'create the tables of a shared state, as their owner',
  description:
    'Creates the tables of the shared state (PETSTOCK_STATE_URL or the setting state-url) in the schema petstock, or migrates those of petstock 0.3.0. ' +
    'The role that runs this command owns them; it gives other roles USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables. Sends nothing.',
  examples: [['PETSTOCK_STATE_URL="$OWNER_URL" petstock state init']],
  run: async function* (invocation) {
    const url = sharedStateOf(invocation)?.value;
    if (url === undefined) {
      throw new UsageError(
        "No shared state is set. This machine's own state needs no init, because the first request creates it",
        { hint: 'petstock config set state-url' },
      );
    }
    const { initPostgres } = await import('../../state/postgres.ts');
    const before = await initPostgres({ url, clock: invocation.context.clock });
    const { openState } = await import('../../state/open-state.ts');
    const state = await openState(stateOptions(invocation));
    try {
      const { engine, location, schema } = await state.describe();
      const words = { nothing: 'was created', state: 'already exists', 'state of 0.3.0': 'was migrated' };
      await invocation.messages.note(`The shared state at ${location} ${words[before]}.`);
      if (invocation.results.isFormatNamed) yield recordView({ engine, location, schema, made: before === 'nothing' });
    } finally {
      await state.close();
    }
  },
});

export const stateCommand: Command = {
  summary: 'show or check the limits, locks and history that petstock keeps',
  group: 'Service and setup',
  description:
    'The data that petstock keeps for its commands, on this machine or in a shared database: the limits of each key, the pets that commands are changing, and the history.',
  needsConfig: false,
  commands: { info, check, init },
};
