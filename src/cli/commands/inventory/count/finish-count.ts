import type { BulkRow } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { planChanges } from '../../../../inventory/plan.ts';
import { unknownLines, unknownRows } from '../../../../output/count-text.ts';
import { plainPaint } from '../../../../output/terminal.ts';
import { writeFileAtomically } from '../../../../shared/atomic-file.ts';
import { NotFoundError, PartialError, UsageError } from '../../../../shared/errors.ts';
import { fileOperand, petstock, targetName, targetWords } from '../../../../shared/hint.ts';
import { requireWithinGuards } from '../../../../writes/carry-out.ts';
import { faultyFile } from '../../../input-file.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { AppliedBefore } from '../../../runs/applied-before.ts';
import { performPlan } from '../../../runs/perform.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { changeText, fileText, openFailedOut, requireChangeFile, type WriteRows } from '../written-change-file.ts';
import { type CountOptions, countLine } from './count-options.ts';
import { type CountedChanges, changesOf, countedChanges, showDoubts } from './counted-changes.ts';

export interface FinishOptions extends Omit<CountOptions, 'failedOut'> {
  readonly writeFile: WriteRows | undefined;
  readonly failedOut: Awaited<ReturnType<typeof openFailedOut>>;
  /** Called with the run, once it is recorded and before its first write. */
  readonly onBegun?: (run: string) => Promise<void>;
}

/**
 * Opens the files of `--to` and `--failed-out`.
 * @throws UsageError if one can't be written or must not be replaced, or if another option excludes `--to`
 */
export async function openOutputs(
  invocation: Invocation,
  { to, file, codes, force = false, dryRun, failedOut }: CountOptions,
): Promise<Pick<FinishOptions, 'writeFile' | 'failedOut'>> {
  const replacing = { force, inputs: ['-', file ?? [], codes ?? []].flat() };
  if (to === undefined)
    return { writeFile: undefined, failedOut: await openFailedOut(invocation, failedOut, replacing) };
  if (failedOut !== undefined) throw new UsageError("--to and --failed-out can't be used together. Leave one out");
  if (dryRun) throw new UsageError("--to does not write stock, so it can't be combined with --dry-run. Leave one out");
  if (to === '-') {
    const writeFile: WriteRows = async (rows) => {
      for await (const piece of changeText(rows)) await invocation.results.write(piece);
    };
    return { writeFile, failedOut: undefined };
  }
  await requireChangeFile(invocation, '--to', to, replacing);
  return { writeFile: (rows) => writeFileAtomically(to, fileText(rows)), failedOut: undefined };
}

/**
 * Ends a count as a run or as a change file.
 * @throws UsageError if a line of a file is mistaken, or if `--all` meets an unknown code; NotFoundError if no code is
 * known, PartialError if only some are
 */
export async function finishCount(run: RunAccess, counting: Counting, options: FinishOptions): Promise<void> {
  const { invocation } = run;
  const { mode, all = false } = options;
  await requireRightLines(invocation, counting, options);
  const before = await lookBefore(run, counting, options);
  const counts = await countedChanges(run, counting, options);
  const { unknowns, unscanned } = counts;
  const asks = !options.dryRun && options.to === undefined && invocation.questions.willAsk();
  const lines = await showUnknown(invocation, unknowns, asks);
  if (counts.changes.length === 0 && unknowns.size > 0) throw noneKnown(invocation, unknowns, lines, options.codes);
  if (all) requireAllKnown(unknowns, lines);
  if (!all && mode === 'count' && unscanned.length > 0) {
    const kept = unscanned.length === 1 ? 'was not scanned and keeps its' : 'were not scanned and keep their';
    await invocation.messages.note(`${counted(unscanned.length, 'pet')} ${kept} stock.`);
  }
  const doubts = mode === 'count' ? await showDoubts(run, counting, counts, options) : [];
  const facts = [...doubts, ...(unknowns.size > 0 ? [`leaving out ${unknownText(unknowns)}`] : [])];
  await writeCounts(run, counting, counts, { before, facts }, options);
  if (unknowns.size === 0) return;
  throw new PartialError(`Not counted: ${unknownText(unknowns)}`, { lines, hint: againCommand(invocation, options) });
}

function againCommand(invocation: Invocation, { file, mode }: FinishOptions): string {
  const isTyped = invocation.context.stdin.isTerminal;
  return countLine(invocation, file, {
    ...(isTyped && { applyOnly: true }),
    ...(mode !== 'count' && { skipApplied: true, again: undefined }),
  });
}

/** The hint is never the command that was just typed: it would find no code again. */
function noneKnown(
  invocation: Invocation,
  unknowns: ReadonlyMap<string, number>,
  lines: readonly string[],
  codes: string | undefined,
): NotFoundError {
  const [unknown = ''] = unknowns.keys();
  const code = unknown.replace(/(?:, | \(pet ).*/, '');
  const file = codes === undefined ? [] : ['--codes', fileOperand(codes)];
  const hint =
    invocation.hasCodes || codes !== undefined
      ? petstock`inventory codes add ${code} ${'<petId>'} ${file}`
      : petstock`config set codes ${'<codes.csv>'}`;
  return new NotFoundError('No scanned code matches a pet. Nothing was written', { lines, hint });
}

/**
 * Warns once more about mistaken lines that were typed.
 * @throws UsageError if the lines were not typed, because their meaning is not known
 */
async function requireRightLines(
  invocation: Invocation,
  { mistakes }: Counting,
  { isScanning, file }: FinishOptions,
): Promise<void> {
  const { messages } = invocation;
  const total = mistakes.length;
  if (total === 0) return;
  if (!isScanning) throw faultyFile(file ?? '-', { problems: mistakes, total, unit: 'line' }, 'nothing was written');
  await messages.warn(`${total === 1 ? '1 line was' : `${grouped(total)} lines were`} ignored:`);
  for (const { message } of mistakes) await messages.quote(message, { always: true });
}

/** A change file may be made of the same scans as often as one likes. */
function lookBefore({ invocation, connection }: RunAccess, counting: Counting, options: FinishOptions) {
  const { again = false, skipApplied = false, dryRun, file = '-', to } = options;
  return AppliedBefore.look({ invocation, connection }, changesOf(counting.tally.counts(), options), {
    ...{ again, skipApplied, dryRun, names: counting.known.codes.names },
    file: to === undefined ? file : undefined,
    skipCommand: () => countLine(invocation, options.file, { skipApplied: true }),
  });
}

/** @param evidence what was applied before, and clauses for the question */
async function writeCounts(
  run: RunAccess,
  counting: Counting,
  { changes, stock }: CountedChanges,
  { before, facts }: { readonly before: AppliedBefore; readonly facts: readonly string[] },
  options: FinishOptions,
): Promise<void> {
  const { invocation } = run;
  const { failedOut, file = '-', mode } = options;
  const { skipped, earlier } = before;
  const { rows, problems } = planChanges(changes, stock.quantities, { skipped, env: targetName(invocation.target) });
  if (problems.length > 0) {
    throw faultyFile(file, { problems, total: problems.length, unit: 'line' }, 'nothing was written');
  }
  if (options.writeFile !== undefined) {
    const planned = rows.filter(({ result }) => result !== 'skipped');
    await writeToFile(invocation, planned, options, options.writeFile);
    return;
  }
  const { names } = counting.known.codes;
  const job = {
    ...{ rows, stock },
    confirmed: mode === 'count' ? new Set([...counting.tally.counts()].map(([petId]) => petId)) : undefined,
    subject: { command: 'inventory count', ...before.content },
    intention: { verb: 'Write' as const, earlier, facts },
    names: names.size > 0 ? names : undefined,
    requireNotDuplicate: () => before.requireStill(),
    onBegun: async (id: string) => {
      await options.onBegun?.(id);
      await failedOut?.empty();
    },
  };
  try {
    await performPlan(run, job, { ...options, keepFailed: failedOut?.keep });
  } catch (error) {
    throw before.explain(error);
  }
}

/** Writes a count to the file of `--to`, and prints how to apply it. */
async function writeToFile(
  { messages, target }: Invocation,
  rows: readonly BulkRow[],
  { guards, to = '-' }: FinishOptions,
  write: WriteRows,
): Promise<void> {
  requireWithinGuards(rows, guards);
  await write(rows);
  if (to === '-') return;
  const differ = grouped(rows.filter(({ before, after }) => before !== after).length);
  await messages.note(`Written to ${to}: ${counted(rows.length, 'pet')} (${differ} with a new stock).`);
  await messages.note(`To apply it: ${petstock`inventory apply ${fileOperand(to)} ${targetWords(target)}`}`);
}

/** Returns, for example, `3 units of 2 unknown codes`. */
function unknownText(unknowns: ReadonlyMap<string, number>): string {
  const units = [...unknowns.values()].reduce((sum, count) => sum + count, 0);
  return `${counted(units, 'unit')} of ${counted(unknowns.size, 'unknown code')}`;
}

/**
 * Lists the units that belong to no pet.
 * @returns lines for the error, if the list is not visible or a program reads the error; otherwise none
 */
async function showUnknown(
  { messages, results }: Invocation,
  unknowns: ReadonlyMap<string, number>,
  always: boolean,
): Promise<readonly string[]> {
  if (unknowns.size > 0) await messages.show((paint, width) => unknownLines(unknowns, paint, width), { always });
  const isNamed = results.wantsJson || (messages.isQuiet && !always);
  return isNamed ? unknownRows(unknowns, plainPaint, undefined, true) : [];
}

/**
 * Checks that every code is known.
 * @throws UsageError if a code is not, because `--all` would write a zero for a pet that may be on the shelf
 */
function requireAllKnown(unknowns: ReadonlyMap<string, number>, lines: readonly string[]): void {
  if (unknowns.size === 0) return;
  const codes = unknowns.size === 1 ? 'A code is' : `${grouped(unknowns.size)} codes are`;
  throw new UsageError(
    `${codes} not known, so --all could set scanned pets to 0. Nothing was written. ` +
      'Add the codes to the codes file, or drop each with a line = <code> 0',
    { lines },
  );
}
