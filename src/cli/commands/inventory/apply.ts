import { rowFields } from '../../../change-files/field-names.ts';
import { changeFileEndings, changeFormats } from '../../../change-files/read-rows.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { UsageError } from '../../../shared/errors.ts';
import { flagWords, petstock, targetName } from '../../../shared/hint.ts';
import { readStockToPlan } from '../../../writes/stock.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { AppliedBefore } from '../../runs/applied-before.ts';
import { performPlan } from '../../runs/perform.ts';
import { withContinueHint } from '../../runs/run-access.ts';
import { define, files, known, type OptionsOf, oneOf, optionRows, repeated, wholeNumber, words } from '../command.ts';
import { type BulkFlags, bulkOptions, experimental, type ParsedBulkFlags, parseBulkFlags } from '../option-values.ts';
import { applyCommand, parseColumns, type ReadOptions, readChangeFile } from './change-file.ts';
import { RowEvidence } from './row-evidence.ts';
import { openFailedOut, openPlanOut } from './written-change-file.ts';

const help = 'petstock inventory apply --help';

const applyOptions = optionRows(
  [
    '--format <format>',
    'format of the file: csv, tsv, json or ndjson (default: by its name, or else by its content)',
    oneOf(changeFormats),
  ],
  [
    '--column <field=name>',
    'the column of a field, such as petId=SKU; may be given several times',
    repeated(words(rowFields.map((field) => `${field}=`))),
  ],
  ['--ignore-columns', 'ignore unknown columns, except those that look like `expected`'],
  ['--min-rows <n>', 'refuse a file with fewer rows, for example an incomplete download', wholeNumber],
  ['--ignore-names', 'apply rows although their name is that of another pet'],
  ['--skip-unknown', 'skip pets that the service does not have, instead of refusing the file'],
  ['--failed-out <file>', 'save the rows that were not written, as a file for apply'],
  [
    '--plan-out <file>',
    'with --dry-run: write the plan to a file, with the stock that each row expects, to apply it later',
  ],
  ['--force', 'let --failed-out or --plan-out replace a file that petstock did not write, or that was changed since'],
  [
    '--resume <run>',
    'resume an interrupted run, or `latest`: the newest of this store and environment; takes no file',
    known('incomplete-runs'),
  ],
  ['--skip-applied', 'leave out deltas whose pet was already changed by the same number under the same ref'],
  ['--again', 'apply deltas once more that were already applied: the file, or a pet under the same ref'],
  ['--reason <text>', 'reason in the history, for rows without one of their own'],
  ['--ref <text>', 'your own number or name, such as a delivery note, for rows without one'],
  ...bulkOptions,
);
type ApplyOptions = OptionsOf<typeof applyOptions>;

export const applyChangesCommand = define({
  summary: 'set the stock levels that are listed in a file',
  operands: { '[file]': ['a CSV, TSV, JSON or NDJSON file; - reads stdin', files(...changeFileEndings)] },
  description:
    'Sets the stock levels that are listed in a file. Checks the whole file before anything is sent, shows the plan, ' +
    'and asks for confirmation. Each change is in the history before it is sent, so that the run can be resumed after a crash, ' +
    'and undone. Sends one request, plus one per row that changes.\n\n' +
    'The columns are petId (or id), and quantity (or qty) or delta (or adjust), in any order. Optional columns are ' +
    'expected, reason, ref, status and name. Status and name are for you to read: apply does not write them, and warns if they differ from the current ones. A row with the name of another pet is refused. Deltas of one pet are added up. A blank quantity changes nothing. A row whose stock is not the `expected` one is a ' +
    `conflict and is not written.\n\n${experimental}`,
  options: applyOptions,
  examples: [
    ['petstock inventory export counts.csv', 'a file to edit'],
    ['petstock inventory apply counts.csv --dry-run', 'see what it would do'],
    ['petstock inventory apply counts.csv --dry-run --plan-out plan.csv', 'for `apply plan.csv` after a review'],
    ['petstock inventory apply counts.csv'],
    ['petstock inventory apply counts.csv --yes --max-changes 500 --failed-out failed.csv', 'in a script'],
    [
      'petstock inventory apply delivery.csv --column petId=SKU --column delta=Pieces --ignore-columns',
      "a supplier's own format",
    ],
    ['petstock inventory apply --resume <run>', 'after Ctrl-C, or a crash'],
    ['petstock undo --last', 'undo the whole run'],
  ],
  run: async (invocation, options, file?: string) => {
    if (options.resume !== undefined) return resume(invocation, options.resume, options, file);
    if (file === undefined) throw new UsageError('No file was given. Give one, or - for stdin', { hint: help });
    await runFile(invocation, file, options);
  },
});

async function resume(invocation: Invocation, run: string, options: ApplyOptions, file: string | undefined) {
  const { format, column, ignoreColumns, ignoreNames, minRows, skipUnknown, planOut } = options;
  const { skipApplied, again, reason, ref } = options;
  const reading = [file, format, column, ignoreColumns, ignoreNames, minRows, skipUnknown];
  const ofFile = [...reading, planOut, skipApplied, again, reason, ref];
  if (ofFile.some((given) => given !== undefined)) {
    const { store, env } = invocation.globals;
    throw new UsageError(
      '--resume takes the rows from the history. Leave out the file and its options, such as --column and --reason',
      { hint: petstock`inventory apply --resume ${run} ${flagWords({ store, env })}` },
    );
  }
  const bulk = parseBulkFlags(invocation, options);
  const { resumeRun } = await import('../../runs/resume.ts');
  const failedOut = await openFailedOut(invocation, options.failedOut, { force: options.force === true });
  const given = { ...bulk, keepFailed: failedOut?.keep };
  const empty = async () => failedOut?.empty();
  await resumeRun(invocation, run, given, empty).catch(async (error) => {
    await failedOut?.warnIfKept();
    throw error;
  });
}

type FileOptions = Omit<ApplyOptions, keyof BulkFlags | 'column' | 'minRows'> & ParsedBulkFlags & ReadOptions;

/**
 * Reads a change file, plans its rows, and writes the stock.
 * @throws UsageError with every error in the file
 */
async function runFile(invocation: Invocation, file: string, given: ApplyOptions): Promise<void> {
  const { column, minRows = 0, ...others } = given;
  if (others.skipApplied && others.again) {
    throw new UsageError("--skip-applied and --again can't be used together. Leave one out");
  }
  const options = { ...others, minRows, columns: parseColumns(column), ...parseBulkFlags(invocation, given) };
  const replacing = { force: options.force === true, inputs: [file] };
  const failedOut = await openFailedOut(invocation, options.failedOut, replacing);
  const { dryRun, planOut } = options;
  const keepPlan = await openPlanOut(invocation, planOut, { dryRun, force: replacing.force, input: file });
  invocation.questions.stdinIsTaken = file === '-';
  await withContinueHint(applyCommand(invocation, file), async () => {
    const { access, job, before } = await planFile(invocation, file, options);
    try {
      const onBegun = failedOut?.isInput ? undefined : failedOut?.empty;
      const keeping = { keepFailed: failedOut?.keep, keepPlan };
      await performPlan(access, { ...job, onBegun }, { ...options, ...keeping });
    } catch (error) {
      throw before.explain(error);
    }
  }).catch(async (error) => {
    await failedOut?.warnIfKept();
    throw error;
  });
}

/** Reads and plans a file. This is a separate function, so that the content of the file is released before the run. */
async function planFile(invocation: Invocation, file: string, options: FileOptions) {
  const { target, questions } = invocation;
  const command = applyCommand(invocation, file);
  const read = await readChangeFile(invocation, file, options);
  const { changes } = read;
  if (!options.dryRun) questions.requireAnswer({ previewCommand: petstock`${command} --dry-run` });
  const access = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
  const petIds = new Set(changes.map(({ petId }) => petId));
  const { again = false, skipApplied = false, ignoreNames = false, skipUnknown = false, reason, ref } = options;
  const noted =
    reason === undefined && ref === undefined
      ? changes
      : changes.map((change) => ({ ...change, reason: change.reason ?? reason, ref: change.ref ?? ref }));
  const { names } = await invocation.remarks('person');
  const before = await AppliedBefore.look(access, noted, {
    ...{ file, again, skipApplied, dryRun: options.dryRun, names },
    skipCommand: () => petstock`${applyCommand(invocation, file, { skipApplied: true })}`,
  });
  const evidence = new RowEvidence(read, ignoreNames ? undefined : names);
  const reader = { ...access.connection, onEachItem: evidence.see };
  const stock = await readStockToPlan(reader, petIds);
  const { quantities } = stock;
  const { skipped, earlier } = before;
  const { rows, problems } = planChanges(noted, quantities, { skipUnknown, skipped, env: targetName(target) });
  evidence.requireMeant(invocation, { file, command, problems });
  const facts = await evidence.tell(invocation, rows);
  const job = {
    subject: { command: 'inventory apply', ...before.content },
    intention: { verb: 'Write' as const, earlier, facts },
    ...{ rows, stock },
    requireNotDuplicate: () => before.requireStill(),
  };
  return { access, job, before };
}
