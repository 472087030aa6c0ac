import { changeFormats } from '../../../change-files/read-rows.ts';
import { counted } from '../../../inventory/items.ts';
import type { RunFilter, SettledFilter, SettledRow } from '../../../inventory/run-records.ts';
import { historyExportView } from '../../../output/history-views.ts';
import { createPaint } from '../../../output/terminal.ts';
import { flagWords, petstock } from '../../../shared/hint.ts';
import type { History } from '../../../state/history.ts';
import { namedTarget } from '../../invocation/globals.ts';
import { loadRenderer } from '../../invocation/results.ts';
import { existingState } from '../../invocation/state-access.ts';
import { define, known, listOf, wholeNumber } from '../command.ts';
import { chosenPets } from '../option-values.ts';
import { exportFormat, exportTo, forceOption } from '../replace-file.ts';
import { periodOf } from './selection.ts';

export const historyExportCommand = define({
  summary: 'write every row of every run as NDJSON',
  formats: changeFormats,
  operands: { '[file]': 'the file to write (default: stdout)' },
  description:
    'Writes every row that has a final outcome, in the order of the outcomes, each with the properties of its run. The format is NDJSON, unless -o or the ' +
    'name of the file chooses JSON, CSV or TSV. Later rows always have a higher seq: to continue later without a gap, pass the last seq to --after. ' +
    'A row is only repeated if a resume has changed its outcome; run and row identify it. ' +
    'An undo has rows of its own; their field undoes has the id of the undone run. Covers every store and environment, unless --store, --env or their variables name one. Sends nothing.',
  options: [
    [
      '--since <date>',
      'only rows that got their outcome from this time on: 2026-01-15, today, yesterday, monday, or 7d, 1w, 12h ago',
    ],
    ['--until <date>', 'only rows that got their outcome up to this time'],
    ['--after <cursor>', 'only rows after the one with this seq', wholeNumber],
    ['--pet <id>', 'only rows of this pet, by id or name', listOf(known('pets'))],
    ['--ref <text>', 'only rows with this ref'],
    ['--user <name>', 'only rows of runs by this user'],
    forceOption,
  ],
  examples: [
    ['petstock history export history.ndjson'],
    ['petstock history export history.csv', 'for a spreadsheet'],
    ['petstock history export --after 1200', 'rows since the last export'],
    [`petstock history export | grep '"petId":4,'`, 'every write to one pet'],
  ],
  run: async (invocation, options, file = '-') => {
    const { context, globals } = invocation;
    const filter: SettledFilter = {
      ...namedTarget(invocation),
      ...periodOf(invocation, options),
      after: options.after,
      petIds: await chosenPets(invocation, { pet: options.pet }),
      ref: options.ref,
      user: options.user,
    };
    const format = exportFormat(invocation, file, 'ndjson');
    const found = await existingState(invocation);
    const rows = () => found?.history.settled(filter) ?? noRows();
    const { header, stringIds = false } = globals;
    const rendering = { header, stringIds, width: undefined, paint: await createPaint(false) };
    const text = (await loadRenderer(format))(historyExportView(rows), rendering);
    const pieces = untilInterrupted(text, context.interrupted);
    await exportTo(invocation, file, pieces, { force: options.force === true });
    for (const each of ['incomplete', 'running'] as const) {
      const open = found === undefined ? 0 : await openRows(found.history, { ...namedTarget(invocation), state: each });
      const list = petstock`history list --state ${each} ${flagWords({ store: globals.store, env: globals.env })}`;
      const left = `Not exported: ${counted(open, 'row')} of ${each} runs, without a final outcome`;
      if (open > 0) await invocation.messages.note(`${left}. To see them: ${list}`);
    }
  },
});

async function* untilInterrupted<Piece>(pieces: AsyncIterable<Piece>, interrupted: AbortSignal): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    interrupted.throwIfAborted();
    yield piece;
  }
}

async function* noRows(): AsyncGenerator<SettledRow> {}

async function openRows(history: History, filter: RunFilter): Promise<number> {
  let rows = 0;
  for await (const { counts } of history.runs(filter)) rows += counts.pending + counts.unknown;
  return rows;
}
