import type { Command } from 'commander';
import { type ExportedRun, historyExportView } from '../../../output/history-export-view.ts';
import { createPaint } from '../../../output/paint.ts';
import { loadRenderer } from '../../../output/renderers.ts';
import { type Format, isFormat } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { History, RunFilter } from '../../../state/history.ts';
import type { GlobalOptions } from '../../invocation/globals.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state.ts';
import { examples } from '../command.ts';
import { exportTo, forceOption } from '../replace-file.ts';
import { requireFileName } from '../values.ts';
import { chosenPlace } from './chosen-place.ts';
import { parseDate } from './parse-date.ts';

interface ExportOptions {
  readonly since?: string;
  readonly until?: string;
  readonly force?: boolean;
}

export function defineHistoryExport(command: Command, run: Run): void {
  command
    .argument('[file]', 'where to write it; without one, stdout')
    .description(
      'Writes every row of every run, the oldest run first: as NDJSON, one object a line with the facts of its run, for grep ' +
        'and for audit, or with -o as JSON, CSV or TSV. Of every environment, unless --env names one. Sends nothing.',
    )
    .option('--since <date>', 'only runs from this time on: 2026-01-15, 2026-01-15T09:30, or 7d, 12h, 30min ago')
    .option('--until <date>', 'only runs up to this time')
    .option(...forceOption)
    .addHelpText(
      'after',
      examples([
        ['petstock history export history.ndjson'],
        ['petstock history export history.csv -o csv', 'for a spreadsheet'],
        [`petstock history export | grep '"petId":4,'`, 'every write of one pet'],
      ]),
    )
    .action(run<ExportOptions>(exportHistory));
}

async function exportHistory(invocation: Invocation, options: ExportOptions, file?: string): Promise<void> {
  const { context, globals } = invocation;
  if (file !== undefined) requireFileName(file, 'history export');
  const now = context.clock.now();
  const filter = {
    ...chosenPlace(invocation),
    since: parseDate('--since', options.since, now, 'start'),
    until: parseDate('--until', options.until, now, 'end'),
  };
  const format = formatOf(globals);
  await withExistingState(invocation, 'history export', async (state) => {
    const runs = () => (state === undefined ? noRuns() : runsOf(state.history, filter));
    const { header, stringIds = false } = globals;
    const rendering = { header, stringIds, width: undefined, paint: await createPaint(false) };
    const text = (await loadRenderer(format))(historyExportView(runs), rendering);
    if (file === undefined || file === '-') {
      for await (const piece of text) {
        context.interrupted.throwIfAborted();
        await invocation.results.write(piece);
      }
      return;
    }
    await exportTo(invocation, file, textOf(text, context.interrupted), { force: options.force === true });
  });
}

/** The setting `output` is about what a person is shown. @throws UsageError for a table */
function formatOf({ json, output }: GlobalOptions): Format {
  const format = json === true ? 'json' : (output ?? 'ndjson');
  if (isFormat(format) && format !== 'table') return format;
  throw new UsageError('history export writes ndjson, json, csv or tsv, and no table', {
    hint: 'petstock history list',
  });
}

async function* textOf(pieces: AsyncIterable<string | Uint8Array>, interrupted: AbortSignal): AsyncGenerator<string> {
  for await (const piece of pieces) {
    interrupted.throwIfAborted();
    yield typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8');
  }
}

/** Only the ids of the runs are held in memory: the history gives the newest first. */
async function* runsOf(history: History, filter: RunFilter): AsyncGenerator<ExportedRun> {
  const ids: string[] = [];
  for await (const { run } of history.runs(filter)) ids.push(run);
  for (const id of ids.reverse()) yield { run: await history.run(id), rows: history.rows(id) };
}

async function* noRuns(): AsyncGenerator<ExportedRun> {}
