import type { PlaceUnit, Remedy } from '../../../change-files/fault.ts';
import type { RowField } from '../../../change-files/field-names.ts';
import { readChanges } from '../../../change-files/read-changes.ts';
import { type ChangeFormat, changeFormats } from '../../../change-files/read-rows.ts';
import { mayBeBarCode } from '../../../inventory/bar-codes.ts';
import type { Change } from '../../../inventory/change.ts';
import { isAbsent, PetIdSet } from '../../../inventory/pet-id-set.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { StockReader } from '../../../runs/stock-reader.ts';
import { UsageError } from '../../../shared/errors.ts';
import { readInput } from '../../../shared/read-input.ts';
import { fileWord, shellWord, type Where, whereName, whereOptions } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { type PlanJob, type PlanOptions, performPlan } from '../../runs/perform.ts';
import { openRunAccess, type RunAccess, withWayOn } from '../../runs/run-access.ts';
import { type FailedOut, openFailedOut } from './failed-out.ts';
import { faultyFile, unreadableFile } from './file-faults.ts';
import { contentHashOf, RepetitionGuard } from './repetition-guard.ts';

export interface FileOptions extends Omit<PlanOptions, 'stdinIsTaken' | 'keepFailed'> {
  readonly format: string | undefined;
  /** The names that the file has for fields. */
  readonly columns: ReadonlyMap<RowField, string>;
  readonly ignoreColumns: boolean;
  readonly skipUnknown: boolean;
  /** A file with deltas may be applied though a run of it has finished. */
  readonly again: boolean;
  readonly failedOut: string | undefined;
  /** `failedOut` may replace a file that petstock did not write. */
  readonly force: boolean;
  /** For rows that have none of their own. */
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Reads a change file, plans it, and has it written. @throws UsageError with every fault that the file has */
export async function runFile(invocation: Invocation, file: string, options: FileOptions): Promise<void> {
  const failedOut = await openFailedOut(invocation, options.failedOut, { force: options.force, inputs: [file] });
  const command = commandOf(file, invocation.where, options);
  const stdinIsTaken = file === '-';
  const look = `${command} --dry-run`;
  await withWayOn(command, async () => {
    const { access, job, guard } = await readAndPlan(invocation, { file, command, look }, options, failedOut);
    try {
      const { keep, empty: onBegun } = failedOut ?? {};
      await performPlan(access, { ...job, onBegun }, { ...options, keepFailed: keep, stdinIsTaken });
    } catch (error) {
      throw guard.named(error);
    }
  });
}

/** The content of the file is held no longer than this takes: the rows of a plan are many. */
async function readAndPlan(
  invocation: Invocation,
  applied: Omit<AppliedFile, 'content'>,
  options: FileOptions,
  failedOut: FailedOut | undefined,
): Promise<PlannedFile & { readonly access: RunAccess }> {
  const { file, look } = applied;
  const isKept = options.dryRun || failedOut?.isInput;
  const content = await read(invocation, file, options).finally(() => isKept || failedOut?.empty());
  if (!options.dryRun) invocation.questions.requireAnswer({ stdinIsTaken: file === '-', look });
  const access = await openRunAccess(invocation);
  return { access, ...(await planFile(access, { ...applied, content }, options)) };
}

interface PlannedFile {
  readonly job: PlanJob;
  readonly guard: RepetitionGuard;
}

interface FileContent {
  readonly changes: readonly Change[];
  readonly unit: PlaceUnit;
}

interface AppliedFile {
  readonly file: string;
  /** The command as it was given, and one that shows the plan alone. */
  readonly command: string;
  readonly look: string;
  readonly content: FileContent;
}

async function planFile(
  access: RunAccess,
  { file, command, look, content }: AppliedFile,
  options: FileOptions,
): Promise<PlannedFile> {
  const { invocation, site } = access;
  const { where } = invocation;
  const { changes, unit } = content;
  const petIds = new PetIdSet(changes.map(({ petId }) => petId));
  const hasDeltas = changes.some(({ delta }) => delta !== undefined);
  const contentHash = contentHashOf(changes);
  const { again, skipUnknown, reason, ref } = options;
  const guard = new RepetitionGuard(access, { file, contentHash, hasDeltas, again });
  const earlier = options.dryRun ? undefined : await guard.check();
  await invocation.service.announce();
  const { quantities, mark, readAt } = await new StockReader(site).readSettled(petIds);
  const noted =
    reason === undefined && ref === undefined
      ? changes
      : changes.map((change) => ({ ...change, reason: change.reason ?? reason, ref: change.ref ?? ref }));
  const { rows, faults } = planChanges(noted, quantities, { skipUnknown, env: whereName(where) });
  if (faults.length > 0) {
    const absent = skipUnknown ? [] : changes.flatMap(({ petId }) => (isAbsent(quantities, petId) ? petId : []));
    const code = absent.find(mayBeBarCode);
    const codes = invocation.config.settings.codes === undefined ? " --codes '<codes.csv>'" : '';
    const count = `petstock inventory count${hasDeltas ? ' --add' : ''}${codes} ${whereOptions(where)}`;
    const hint = code !== undefined ? count : absent.length > 0 ? `${command} --skip-unknown` : undefined;
    const why = code === undefined ? '' : `. ${code} looks like a bar code, and apply takes pet ids`;
    throw faultyFile(file, { faults, total: faults.length, unit }, { nothing: `nothing was written${why}`, hint });
  }
  const subject = { command: 'inventory apply', file, contentHash, hasDeltas };
  const intention = { verb: 'Write' as const, earlier };
  return { job: { subject, rows, stock: { mark, readAt }, look, intention, mayBegin: checking(guard) }, guard };
}

/** Another process may have begun since, and may even have ended: the stock was read after its writes then. */
function checking(guard: RepetitionGuard): () => Promise<string | undefined> {
  return async () => {
    await guard.check();
    return guard.newest;
  };
}

function formatOf(text: string | undefined): ChangeFormat | undefined {
  if (text === undefined) return undefined;
  const format = changeFormats.find((known) => known === text);
  if (format !== undefined) return format;
  throw new UsageError(`--format takes ${changeFormats.join(', ')}; not "${text}"`);
}

async function read({ context, where }: Invocation, file: string, options: FileOptions): Promise<FileContent> {
  const { format, columns, ignoreColumns } = options;
  const { stdin, interrupted } = context;
  const chunks = file === '-' ? stdin.chunks : readInput(file, interrupted);
  const name = file === '-' ? undefined : file;
  const result = await readChanges(chunks, { name, format: formatOf(format), columns, ignoreColumns }).catch(
    (error) => {
      throw unreadableFile(file, error);
    },
  );
  if (result.ok) return { unit: result.unit, changes: [...result.changes] };
  throw faultyFile(file, result, {
    nothing: 'nothing was sent',
    hint: remedyHint(file, where, options, result.remedy),
  });
}

/** Returns what to do with a file of other names: a command that reads it, or a question. undefined if that is the command that has just failed. */
function remedyHint(file: string, where: Where, options: FileOptions, remedy: Remedy | undefined): string | undefined {
  if (remedy?.kind !== 'ignore') return remedy?.question;
  return options.ignoreColumns ? undefined : commandOf(file, where, { ...options, ignoreColumns: true });
}

/** The command as it was given, as far as it says what the plan is. */
function commandOf(file: string, where: Where, { format, columns, ignoreColumns, skipUnknown }: FileOptions): string {
  const flags = [
    ...(format === undefined ? [] : [`--format ${format}`]),
    ...Array.from(columns, ([field, name]) => `--column ${shellWord(`${field}=${name}`)}`),
    ...(ignoreColumns ? ['--ignore-columns'] : []),
    ...(skipUnknown ? ['--skip-unknown'] : []),
  ];
  return ['petstock inventory apply', fileWord(file), ...flags, whereOptions(where)].join(' ');
}
