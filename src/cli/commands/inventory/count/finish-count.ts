import { basename } from 'node:path';
import type { BulkRow, Change } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { type RepeatedDelta, repeatedDeltas } from '../../../../inventory/earlier-changes.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { planChanges } from '../../../../inventory/plan.ts';
import { petLine } from '../../../../output/count-text.ts';
import { truncate } from '../../../../output/text-width.ts';
import { localTime } from '../../../../output/time.ts';
import { requireWithinGuards } from '../../../../runs/execute.ts';
import { writeFileAtomically } from '../../../../shared/atomic-file.ts';
import { NotFoundError, PartialError, UsageError } from '../../../../shared/errors.ts';
import { fileOperand, petstock, targetWords } from '../../../../shared/hint.ts';
import { targetName } from '../../../../shared/target.ts';
import { faultyFile } from '../../../input-file.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { earlierChanges } from '../../../runs/earlier-changes.ts';
import { performPlan } from '../../../runs/perform.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { contentHashOf, DuplicateFileGuard } from '../duplicate-file-guard.ts';
import { openFailedOut } from '../failed-out.ts';
import { changeText, fileText, requireChangeFile, type WriteRows } from '../written-change-file.ts';
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
  /** All pets of the service; undefined if they are not known. */
  readonly petIds: Iterable<bigint> | undefined;
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
 * @returns the run that was written; undefined if there was nothing to write, in a dry run, and with `--to`
 * @throws UsageError if a line of a file is mistaken, or if `--all` meets an unknown code; NotFoundError if no code is
 * known, PartialError if only some are
 */
export async function finishCount(
  run: RunAccess,
  counting: Counting,
  options: EndedCount,
): Promise<string | undefined> {
  const { invocation } = run;
  const { mode, all = false, source } = options;
  await requireRightLines(invocation, counting, options);
  const planned = { ...options, ref: options.ref ?? defaultRef(options) };
  const guards = await guardRepetition(run, counting, planned);
  const counts = await countedChanges(run, counting, options.petIds, planned);
  const { unknowns, unscanned } = counts;
  const asks = !options.dryRun && options.to === undefined && invocation.questions.willAsk();
  const lines = await showUnknown(invocation, unknowns, asks);
  if (counts.changes.length === 0 && unknowns.size > 0) throw noneKnown(invocation, unknowns, lines);
  if (all) requireAllKnown(unknowns, lines);
  if (!all && mode === 'count' && unscanned.length > 0) {
    const kept = unscanned.length === 1 ? 'was not scanned and keeps its' : 'were not scanned and keep their';
    await invocation.messages.note(`${counted(unscanned.length, 'pet')} ${kept} stock.`);
  }
  const doubts = mode === 'count' ? await showDoubts(run, counting, counts, { ...source, all }) : [];
  const facts = [...doubts, ...(unknowns.size > 0 ? [`leaving out ${unknownText(unknowns)}`] : [])];
  const written = await writeCounts(run, counting, counts, { ...planned, ...guards, facts });
  if (unknowns.size === 0) return written;
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
): NotFoundError {
  const [code = ''] = unknowns.keys();
  const hint = invocation.hasCodes
    ? petstock`inventory codes add ${code.replace(/ \(pet .*/, '')} ${'<petId>'}`
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

/** What keeps units from being written twice. */
interface Repetition {
  readonly guard: DuplicateFileGuard;
  /** The pets that `--skip-applied` leaves out. */
  readonly left: ReadonlySet<bigint>;
  /** A clause for the question, if units of this count were already written. */
  readonly earlier: string | undefined;
}

/**
 * Looks in the history for the same count, and for pets that were changed under the same `ref`. Sends nothing.
 * @throws UsageError or ConflictError if these units were already written, or are being written, and nobody can be asked
 */
async function guardRepetition(run: RunAccess, counting: Counting, options: EndedCount): Promise<Repetition> {
  const { mode, ref, again = false, skipApplied = false, file = '-', dryRun, to } = options;
  const hasDeltas = mode !== 'count';
  const changes = changesOf(counting.tally.counts(), options);
  const earlierRows = hasDeltas && ref !== undefined ? await earlierChanges(run, { ref }) : [];
  const repeated = repeatedDeltas(changes, earlierRows);
  const told = await tellRepeated(run, counting, repeated, options);
  const contentHash = contentHashOf(changes);
  const isDecided = again || told !== undefined || (skipApplied && ref !== undefined);
  const guard = new DuplicateFileGuard(run, {
    file,
    contentHash,
    earlierHash: contentHash,
    hasDeltas,
    again: isDecided,
  });
  const earlier = dryRun || to !== undefined ? undefined : await guard.check();
  const left = new Set(skipApplied ? repeated.map(({ change }) => change.petId) : []);
  return { guard, left, earlier: told ?? (isDecided ? undefined : earlier) };
}

interface Writing extends EndedCount, Repetition {
  readonly facts: readonly string[];
}

async function writeCounts(
  run: RunAccess,
  counting: Counting,
  { changes, stock }: CountedChanges,
  { guard, left, ...options }: Writing,
): Promise<string | undefined> {
  const { invocation } = run;
  const { failedOut, file = '-', mode, earlier, facts } = options;
  const skipped = changes.filter(({ petId }) => left.has(petId));
  const rest = changes.filter(({ petId }) => !left.has(petId));
  const { rows: planned, problems } = planChanges(rest, stock.quantities, { env: targetName(invocation.target) });
  if (problems.length > 0) {
    throw faultyFile(file, { problems, total: problems.length, unit: 'line' }, 'nothing was written');
  }
  if (options.writeFile !== undefined) {
    await writeToFile(invocation, planned, options, options.writeFile);
    return undefined;
  }
  const { names } = counting.known.codes;
  const job = {
    rows: [...planned, ...skipped.map((change) => skippedRow(change, stock.quantities.get(change.petId)))],
    stock,
    subject: { command: 'inventory count', file, contentHash: guard.contentHash, hasDeltas: mode !== 'count' },
    intention: { verb: 'Write' as const, earlier, facts },
    names: names.size > 0 ? names : undefined,
    requireNotDuplicate: async () => {
      await guard.check();
      return guard.newest;
    },
    onBegun: failedOut?.empty,
  };
  try {
    return await performPlan(run, job, { ...options, keepFailed: failedOut?.keep });
  } catch (error) {
    throw guard.withEarlierRun(error);
  }
}

/** Returns the row of a delta that is left out, because it was applied before. */
function skippedRow({ line, petId, delta, reason, ref }: Change, before: number | undefined): BulkRow {
  return { line, petId, before, after: before, delta, result: 'skipped', reason, ref };
}

/**
 * Shows which pets were changed before under the same `ref`.
 * @returns a clause for the question; undefined if there are none
 * @throws UsageError if nobody can be asked, and neither `--again` nor `--skip-applied` decides it
 */
async function tellRepeated(
  run: RunAccess,
  counting: Counting,
  repeated: readonly RepeatedDelta[],
  { again = false, skipApplied = false, ref = '', file }: EndedCount,
): Promise<string | undefined> {
  const { invocation } = run;
  const { messages, questions, context } = invocation;
  const open = skipApplied ? repeated.filter(({ isSame }) => !isSame) : repeated;
  const [first] = open;
  if (first === undefined) return undefined;
  const now = context.clock.now();
  const { names } = counting.known.codes;
  const signed = (delta = 0) => `${delta > 0 ? '+' : ''}${grouped(delta)}`;
  const lineOf = ({ change, earlier }: RepeatedDelta, width: number) => {
    const before = earlier.map(
      ({ delta, run: id, at }) => `${signed(delta)} by run ${id.slice(-4)} at ${localTime(at, now)}`,
    );
    return truncate(petLine(change.petId, `: ${before.join(', ')}; now ${signed(change.delta)}`, names, width), width);
  };
  const pets = counted(open.length, 'pet');
  const what = `${pets} ${open.length === 1 ? 'was' : 'were'} already changed under ref ${ref}`;
  const asks = questions.willAsk();
  if (again || asks) {
    await messages.warn(again ? `${what}, and ${open.length === 1 ? 'is' : 'are'} changed once more` : what);
    await messages.show((_paint, width) => open.map((each) => `  ${lineOf(each, width - 2)}`), { always: true });
    return what;
  }
  const ways = open.every(({ isSame }) => isSame)
    ? 'To leave them out, add --skip-applied. To change them once more, add --again'
    : 'The numbers differ: check the delivery note. To change them once more, add --again';
  throw new UsageError(`${what}. Nothing was sent. ${ways}`, {
    lines: open.map((each) => lineOf(each, Number.POSITIVE_INFINITY)),
    hint: open.every(({ isSame }) => isSame)
      ? countCommand(invocation, file, { skipApplied: true })
      : petstock`history show ${first.earlier[0]?.run ?? []}`,
  });
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
