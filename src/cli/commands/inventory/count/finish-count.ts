import { basename } from 'node:path';
import type { BulkRow } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { writeFileAtomically } from '../../../../shared/atomic-file.ts';
import { NotFoundError, PartialError, UsageError } from '../../../../shared/errors.ts';
import { fileOperand, petstock, targetWords } from '../../../../shared/hint.ts';
import { targetName } from '../../../../shared/target.ts';
import { requireWithinGuards } from '../../../../writes/carry-out.ts';
import { faultyFile } from '../../../input-file.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { AppliedBefore } from '../../../runs/applied-before.ts';
import { performPlan } from '../../../runs/perform.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { changeText, fileText, openFailedOut, requireChangeFile, type WriteRows } from '../written-change-file.ts';
import { type CountOptions, countCommand } from './count-options.ts';
import {
  type CountedChanges,
  changesOf,
  countedChanges,
  requireAllKnown,
  showUnknown,
  unknownText,
} from './count-plan.ts';
import { showDoubts } from './evidence.ts';

export interface FinishOptions extends Omit<CountOptions, 'failedOut'> {
  readonly ref: string | undefined;
  readonly writeFile: WriteRows | undefined;
  readonly failedOut: Awaited<ReturnType<typeof openFailedOut>>;
}

/** A count that is over. */
interface EndedCount extends FinishOptions {
  readonly source: { readonly file: string | undefined; readonly began: number | undefined };
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
export async function finishCount(run: RunAccess, counting: Counting, options: EndedCount): Promise<void> {
  const { invocation } = run;
  const { mode, all = false, source } = options;
  await requireRightLines(invocation, counting, options);
  const planned = { ...options, ref: options.ref ?? defaultRef(options) };
  const before = appliedBefore(run, counting, planned);
  const earlier = await before.check(changesOf(counting.tally.counts(), planned));
  const counts = await countedChanges(run, counting, planned);
  const { unknowns, unscanned } = counts;
  const asks = !options.dryRun && options.to === undefined && invocation.questions.willAsk();
  const lines = await showUnknown(invocation, unknowns, asks);
  if (counts.changes.length === 0 && unknowns.size > 0) throw noneKnown(invocation, unknowns, lines, options.codes);
  if (all) requireAllKnown(unknowns, lines);
  if (!all && mode === 'count' && unscanned.length > 0) {
    const kept = unscanned.length === 1 ? 'was not scanned and keeps its' : 'were not scanned and keep their';
    await invocation.messages.note(`${counted(unscanned.length, 'pet')} ${kept} stock.`);
  }
  const doubts = mode === 'count' ? await showDoubts(run, counting, counts, { ...source, all }) : [];
  const facts = [...doubts, ...(unknowns.size > 0 ? [`leaving out ${unknownText(unknowns)}`] : [])];
  await writeCounts(run, counting, counts, { ...planned, before, earlier, facts });
  if (unknowns.size === 0) return;
  throw new PartialError(`Not counted: ${unknownText(unknowns)}`, { lines, hint: againCommand(invocation, options) });
}

/** A delivery that is scanned into a file of its own is recognized by the name of that file. */
function defaultRef({ mode, file }: EndedCount): string | undefined {
  return mode === 'count' || file === undefined ? undefined : basename(file);
}

/** Returns the command that counts the same scans again, once their codes are known. */
function againCommand(invocation: Invocation, { file, mode }: EndedCount): string {
  const isTyped = invocation.context.stdin.isTerminal;
  return countCommand(invocation, file, {
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
  const [code = ''] = unknowns.keys();
  // `codes add` extends the file of the setting, not the one of --codes.
  const isAddable = invocation.hasCodes && codes === undefined;
  const hint = isAddable
    ? petstock`inventory codes add ${code.replace(/(?:, | \(pet ).*/, '')} ${'<petId>'}`
    : petstock`config set codes ${codes ?? '<codes.csv>'}`;
  return new NotFoundError('No scanned code matches a pet. Nothing was written', { lines, hint });
}

/**
 * Warns once more about mistaken lines that were typed.
 * @throws UsageError if the lines were not typed, because their meaning is not known
 */
async function requireRightLines(
  invocation: Invocation,
  { mistakes }: Counting,
  { isScanning, file }: EndedCount,
): Promise<void> {
  const { messages } = invocation;
  const total = mistakes.length;
  if (total === 0) return;
  if (!isScanning) throw faultyFile(file ?? '-', { problems: mistakes, total, unit: 'line' }, 'nothing was written');
  await messages.warn(`${total === 1 ? '1 line was' : `${grouped(total)} lines were`} ignored:`);
  for (const { message } of mistakes) await messages.quote(message, { always: true });
}

/** A change file may be made of the same scans as often as one likes. */
function appliedBefore(run: RunAccess, counting: Counting, options: EndedCount): AppliedBefore {
  const { again = false, skipApplied = false, file = '-', to } = options;
  return new AppliedBefore(run, changesOf(counting.tally.counts(), options), {
    ...{ again, skipApplied, names: counting.known.codes.names },
    file: to === undefined ? file : undefined,
    skipCommand: () => countCommand(run.invocation, options.file, { skipApplied: true }),
  });
}

interface Writing extends EndedCount {
  readonly before: AppliedBefore;
  /** A clause for the question, if units of this count were already written. */
  readonly earlier: string | undefined;
  readonly facts: readonly string[];
}

async function writeCounts(
  run: RunAccess,
  counting: Counting,
  { changes, stock }: CountedChanges,
  { before, ...options }: Writing,
): Promise<void> {
  const { invocation } = run;
  const { failedOut, file = '-', earlier, facts } = options;
  const { rows, problems } = before.plan(changes, stock.quantities, { env: targetName(invocation.target) });
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
  { guards, to = '-' }: Pick<EndedCount, 'guards' | 'to'>,
  write: WriteRows,
): Promise<void> {
  requireWithinGuards(rows, guards);
  await write(rows);
  if (to === '-') return;
  const differ = grouped(rows.filter(({ before, after }) => before !== after).length);
  await messages.note(`Written to ${to}: ${counted(rows.length, 'pet')} (${differ} with a new stock).`);
  await messages.note(`To apply it: ${petstock`inventory apply ${fileOperand(to)} ${targetWords(target)}`}`);
}
