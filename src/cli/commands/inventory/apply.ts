import { fieldOf, type RowField, rowFields } from '../../../change-files/field-names.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { collect, define, type OptionsOf, optionRows } from '../command.ts';
import { bulkOptions, parseBulkFlags } from '../values.ts';

const help = 'petstock inventory apply --help';

const applyOptions = optionRows(
  ['--format <format>', 'csv, tsv, json or ndjson; otherwise by the name of the file, or by its content'],
  ['--column <field=name>', 'the column that has a field, such as petId=SKU; may be given several times', collect],
  ['--ignore-columns', 'ignore unknown columns, except those that look like `expected`'],
  ['--skip-unknown', 'skip pets that the service does not have, instead of refusing the file'],
  ['--failed-out <file>', 'write the rows that were not written to a file that apply takes again'],
  ['--force', 'let --failed-out replace a file that petstock did not write, or that was changed since'],
  [
    '--resume <run>',
    'resume a run that was interrupted, or `latest`: the newest of this store and environment; takes no file',
  ],
  ['--again', 'apply a file with deltas once more, though a run of it has finished'],
  ['--reason <text>', 'why, for the history: for rows without a reason of their own'],
  ['--ref <text>', 'a number or name of your own, such as a delivery note: for rows without their own'],
  ...bulkOptions,
);
type ApplyOptions = OptionsOf<typeof applyOptions>;

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
      throw new UsageError('Missing file: name one, or - for stdin', { hint: help });
    }
    await applyFile(invocation, file, options);
  },
});

async function applyFile(invocation: Invocation, file: string, options: ApplyOptions): Promise<void> {
  const { format, ignoreColumns = false, skipUnknown = false, again = false, force = false } = options;
  const { failedOut, reason, ref } = options;
  const columns = parseColumns(options.column);
  const bulk = parseBulkFlags(invocation, options);
  const { runFile } = await import('./apply-file.ts');
  const read = { format, columns, ignoreColumns, skipUnknown };
  await runFile(invocation, file, { ...bulk, ...read, again, failedOut, force, reason, ref });
}

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
  const [{ resumeRun }, { openFailedOut }] = await Promise.all([
    import('../../runs/resume.ts'),
    import('./failed-out.ts'),
  ]);
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

/**
 * The values of `--column`: `petId=SKU`, once for each field.
 * @throws UsageError for an unknown field, and for a field or a column that is named twice
 */
function parseColumns(texts: readonly string[] = []): ReadonlyMap<RowField, string> {
  const columns = new Map<RowField, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = rowFields.find((name) => at >= 0 && name === fieldOf(text.slice(0, at)));
    const name = text.slice(at + 1).trim();
    if (field === undefined || name === '') {
      throw new UsageError(
        `--column takes a field and the column that has it, such as petId=SKU; not "${text}". The fields are ${rowFields.join(', ')}`,
        { hint: help },
      );
    }
    if (columns.has(field)) throw new UsageError(`--column names ${field} twice: leave one out`, { hint: help });
    if ([...columns.values()].includes(name)) {
      throw new UsageError(`--column names the column "${name}" for two fields: leave one out`, {
        hint: help,
      });
    }
    columns.set(field, name);
  }
  return columns;
}
