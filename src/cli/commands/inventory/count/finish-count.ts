import { basename } from 'node:path';
import type { BulkRow, Change } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { stockTakeReason } from '../../../../inventory/earlier-changes.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { unknownLines, unknownRows } from '../../../../output/count-text.ts';
import { plainPaint } from '../../../../output/terminal.ts';
import { writeFileAtomically } from '../../../../shared/atomic-file.ts';
import { NotFoundError, PartialError, UsageError } from '../../../../shared/errors.ts';
import { fileOperand, petstock, targetName, targetWords } from '../../../../shared/hint.ts';
import { requireWithinGuards } from '../../../../writes/carry-out.ts';
import { everyPet, readStockToPlan, type Stock } from '../../../../writes/stock.ts';
import { faultyFile } from '../../../input-file.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { AppliedBefore } from '../../../runs/applied-before.ts';
import { performPlan } from '../../../runs/perform.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { changeText, fileText, openFailedOut, requireChangeFile, type WriteRows } from '../written-change-file.ts';
import { type CountOptions, countLine } from './count-options.ts';
import { showDoubts } from './evidence.ts';

export interface FinishOptions extends Omit<CountOptions, 'failedOut'> {
  readonly ref: string | undefined;
  readonly writeFile: WriteRows | undefined;
  readonly failedOut: Awaited<ReturnType<typeof openFailedOut>>;
}

/** A count that is over. */
interface EndedCount extends FinishOptions {
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
  const { mode, all = false, file } = options;
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
  const { changes, stock } = counts;
  const stockTake = { changes, quantities: stock.quantities, zeroed: all ? unscanned : [], file };
  const doubts = mode === 'count' ? await showDoubts(run, counting, stockTake) : [];
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
  const { again = false, skipApplied = false, dryRun, file = '-', to } = options;
  return new AppliedBefore(run, changesOf(counting.tally.counts(), options), {
    ...{ again, skipApplied, dryRun, names: counting.known.codes.names },
    file: to === undefined ? file : undefined,
    skipCommand: () => countLine(run.invocation, options.file, { skipApplied: true }),
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
  const { failedOut, file = '-', mode, earlier, facts } = options;
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

/** The counted sums as changes, and what they depend on. */
export interface CountedChanges {
  readonly changes: readonly Change[];
  readonly stock: Stock;
  /** The units without a pet, by the description of their code. */
  readonly unknowns: ReadonlyMap<string, number>;
  /** The pets of the service that were not scanned; empty if the list of pets is not known. */
  readonly unscanned: readonly bigint[];
}

type ChangeOptions = Pick<CountOptions, 'mode' | 'reason'> & { readonly ref: string | undefined };

/** Returns sums as changes: as the new stock, or as deltas with `--add` and `--take`. */
function changesOf(
  units: Iterable<readonly [petId: bigint, units: number]>,
  { mode, reason, ref }: ChangeOptions,
): readonly Change[] {
  const why = reason ?? { count: stockTakeReason, add: 'scanned in', take: 'scanned out' }[mode];
  return Array.from(units, ([petId, sum], index): Change => {
    const quantity = mode === 'count' ? sum : undefined;
    const delta = mode === 'count' ? undefined : mode === 'take' ? -sum : sum;
    return { line: index + 1, petId, quantity, delta, expected: undefined, reason: why, ref };
  });
}

/** Reads the stock, and returns the counted sums as changes. */
async function countedChanges(
  run: RunAccess,
  counting: Counting,
  { all = false, ...options }: ChangeOptions & Pick<CountOptions, 'all'>,
): Promise<CountedChanges> {
  const units = new Map(counting.tally.counts());
  const asked = all ? everyPet : new Set(units.keys());
  const stock = await readStockToPlan(run.connection, asked);
  const { quantities } = stock;
  const existing = new Set([...quantities.keys(), ...quantities.unreadable.keys()]);
  const unknowns = new Map(counting.tally.unknowns());
  for (const [petId, quantity] of units) {
    if (existing.has(petId)) continue;
    units.delete(petId);
    const codes = counting.codesOfPets.get(petId);
    const which = `(pet ${petId}, which the service does not have)`;
    const name = codes === undefined ? `${petId}` : `${[...codes].join(', ')} ${which}`;
    unknowns.set(name, (unknowns.get(name) ?? 0) + quantity);
  }
  const allPets = all ? existing : (counting.known.pets ?? []);
  const unscanned = [...allPets].filter((petId) => !units.has(petId));
  if (all) for (const petId of unscanned) units.set(petId, 0);
  return { changes: changesOf(units, options), stock, unknowns, unscanned };
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
