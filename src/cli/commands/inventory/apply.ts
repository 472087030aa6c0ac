import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define } from '../define.ts';
import { parseBulkFlags } from '../option-values.ts';
import { type ApplyOptions, applyOptions, runFile } from './apply-file.ts';
import { openFailedOut } from './failed-out.ts';

export const defineApply = define({
  operands: { '[file]': 'a CSV, TSV, JSON or NDJSON file; - reads stdin' },
  description:
    'Writes the stock levels that a file asks for. The whole file is checked before anything is sent, the plan is shown, ' +
    'and you are asked. Each change is in the history before it leaves, so that it can be resumed after a crash, ' +
    'and taken back. Takes one request, and one for each row that changes.\n\n' +
    'Columns, in any order: petId (or id), then quantity (or qty) or delta (or adjust), and optionally expected, reason, ' +
    'ref, status (ignored). A blank quantity changes nothing. A row whose stock is not what `expected` says is a ' +
    'conflict, and is not written.',
  options: applyOptions,
  examples: [
    ['petstock inventory export counts.csv', 'a file to edit'],
    ['petstock inventory apply counts.csv --dry-run', 'see what it would do'],
    ['petstock inventory apply counts.csv'],
    ['petstock inventory apply counts.csv --yes --max-changes 500 --failed-out failed.csv', 'in a script'],
    [
      'petstock inventory apply delivery.csv --column petId=SKU --column delta=Pieces --ignore-columns',
      'as a supplier sends it',
    ],
    ['petstock inventory apply --resume <run>', 'after Ctrl-C, or a crash'],
    ['petstock undo --last', 'take it all back'],
  ],
  action: async (invocation, options, file?: string) => {
    if (options.resume !== undefined) return resume(invocation, options.resume, options, file);
    if (file === undefined) {
      throw new UsageError('Missing file: name one, or - for stdin', { hint: 'petstock inventory apply --help' });
    }
    await runFile(invocation, file, options);
  },
});

async function resume(
  invocation: Invocation,
  run: string,
  options: ApplyOptions,
  file: string | undefined,
): Promise<void> {
  const { format, column, ignoreColumns, skipUnknown, again, reason, ref } = options;
  if ([file, format, column, ignoreColumns, skipUnknown, again, reason, ref].some((given) => given !== undefined)) {
    throw new UsageError(
      '--resume takes the rows from the history: leave out the file and all that says how it is read',
      { hint: `petstock inventory apply --resume ${shellWord(run)}` },
    );
  }
  const bulk = parseBulkFlags(invocation, options);
  const { resumeRun } = await import('../../runs/resume.ts');
  const failedOut = await openFailedOut(invocation, options.failedOut, { force: options.force === true });
  const given = { ...bulk, keepFailed: failedOut?.keep, stdinIsTaken: false };
  const empty = async () => failedOut?.empty();
  await resumeRun(invocation, run, given, empty, async (session, record, error) => {
    if (record.command !== 'inventory count') return error;
    const { withRestOfRun } = await import('./count/rest.ts');
    // What became of the run matters more: a session that stays open finds its run.
    return withRestOfRun(session, record, error).catch(() => error);
  });
}
