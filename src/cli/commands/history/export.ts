import type { Command } from 'commander';
import { exportWriter } from '../../../output/history-facts.ts';
import { writeFileAtomically } from '../../../shared/atomic-file.ts';
import type { History, RunFilter } from '../../../state/history.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state.ts';
import { examples } from '../command.ts';
import { chosenPlace } from './chosen-place.ts';
import { parseDate } from './parse-date.ts';

interface ExportOptions {
  readonly since?: string;
  readonly until?: string;
}

export function defineHistoryExport(command: Command, run: Run): void {
  command
    .argument('[file]', 'where to write it; without one, stdout')
    .description(
      'Writes every row of every run as NDJSON, the oldest run first: one object a line with the facts of its run, for grep ' +
        'and for audit. Of every environment, unless --env names one. Sends nothing.',
    )
    .option('--since <date>', 'only runs from then on: 2026-01-15, 2026-01-15T09:30, or 7d, 12h, 30min ago')
    .option('--until <date>', 'only runs up to then')
    .addHelpText(
      'after',
      examples([
        ['petstock history export history.ndjson'],
        [`petstock history export | grep '"petId":4,'`, 'every write of one pet'],
      ]),
    )
    .action(run<ExportOptions>(exportHistory));
}

async function exportHistory(invocation: Invocation, options: ExportOptions, file?: string): Promise<void> {
  const { context, globals } = invocation;
  const now = context.clock.now();
  const filter = {
    ...chosenPlace(invocation),
    since: parseDate('--since', options.since, now, 'start'),
    until: parseDate('--until', options.until, now, 'end'),
  };
  await withExistingState(invocation, 'history export', async (state) => {
    const text =
      state === undefined
        ? []
        : exportText(state.history, filter, {
            interrupted: context.interrupted,
            stringIds: globals.stringIds === true,
          });
    if (file === undefined || file === '-') {
      for await (const piece of text) await invocation.results.write(piece);
      return;
    }
    await writeFileAtomically(file, text);
    await invocation.messages.note(`Written to ${file}.`);
  });
}

/** In characters: a write to the disk costs nothing beside it. */
const pieceSize = 64 * 1024;

/** Whole lines. Only the ids of the runs are held in memory: the history gives the newest first. */
async function* exportText(
  history: History,
  filter: RunFilter,
  { interrupted, stringIds }: { readonly interrupted: AbortSignal; readonly stringIds: boolean },
): AsyncGenerator<string> {
  const ids: string[] = [];
  for await (const { run } of history.runs(filter)) ids.push(run);
  let piece = '';
  for (const id of ids.reverse()) {
    const lineOf = exportWriter(await history.run(id), stringIds);
    for await (const row of history.rows(id)) {
      piece += lineOf(row);
      if (piece.length < pieceSize) continue;
      interrupted.throwIfAborted();
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}
