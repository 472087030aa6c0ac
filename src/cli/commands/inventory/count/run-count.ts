import { type BarCodes, noBarCodes } from '../../../../inventory/bar-codes.ts';
import { Counting, type ScanQuestion } from '../../../../inventory/count/counting.ts';
import { codeText } from '../../../../inventory/count/scan-line.ts';
import type { CountMode } from '../../../../inventory/count/tally.ts';
import { countHelp, modeName, sumText } from '../../../../output/count-text.ts';
import { localMinute } from '../../../../output/time.ts';
import {
  ChangesFound,
  InterruptedError,
  PetstockError,
  RateLimitedError,
  serviceQuotes,
  UnavailableError,
  UsageError,
} from '../../../../shared/errors.ts';
import { quoted, sentence } from '../../../../shared/parsed.ts';
import { readNamedFile } from '../../../input-file.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { requireCodesFile } from '../../../shop-codes.ts';
import { type CountOptions, countLine } from './count-options.ts';
import { type FinishOptions, finishCount, openOutputs } from './finish-count.ts';
import { linesOf, linesOfText } from './lines.ts';
import { ScanFile } from './scan-file.ts';
import { createCountScreen } from './screen.ts';

/** The first line of a file that petstock writes: what the scans are for. */
const header = /^# petstock inventory count(?: --(add|take))?/m;
/** The line behind scans that were applied. */
const appliedLine = /^# applied as run ([\w-]+)/gm;

/**
 * Counts: scans into a file at a terminal, or reads a file or stdin, and then shows and writes the sums.
 * @throws the errors of `finishCount`
 */
export async function runCount(invocation: Invocation, options: CountOptions): Promise<void> {
  const { questions } = invocation;
  const { file, isScanning } = options;
  questions.stdinIsTaken = !isScanning && file === undefined;
  requireRef(invocation, options);
  if (isScanning) requireAnswer(invocation, options);
  const outputs = await openOutputs(invocation, options);
  const finish = { ...options, ...outputs };
  try {
    // Without its codes, a count would take codes for ids.
    const hasCodes = options.codes !== undefined || invocation.hasCodes;
    const codes = hasCodes ? (await requireCodesFile(invocation, 'inventory count', options.codes)).codes : noBarCodes;
    await (isScanning ? scan(invocation, codes, finish) : readOnly(invocation, codes, finish));
  } catch (error) {
    await outputs.failedOut?.warnIfKept();
    throw error;
  }
}

/** @throws UsageError if the count is to be written, and neither a person nor `--yes` can confirm that */
function requireAnswer(
  invocation: Invocation,
  { file, dryRun, to }: Pick<CountOptions, 'file' | 'dryRun' | 'to'>,
): void {
  if (dryRun || to !== undefined) return;
  invocation.questions.requireAnswer({ previewCommand: countLine(invocation, file, { dryRun: true }) });
}

/** @throws UsageError for deltas of a script without a `--ref`, because scans that come twice would be added twice */
function requireRef(invocation: Invocation, { file, mode, ref }: CountOptions): void {
  const { stdin, stderr } = invocation.context;
  if (mode === 'count' || ref !== undefined || (stdin.isTerminal && stderr.isTerminal)) return;
  throw new UsageError(
    `--${mode} needs --ref in a script, such as the number of the delivery note: scans that come twice are recognized by it. Nothing was sent`,
    { hint: countLine(invocation, file, { ref: '<number>' }) },
  );
}

async function readOnly(invocation: Invocation, codes: BarCodes, options: FinishOptions): Promise<void> {
  const { file } = options;
  const lines: string[] = [];
  for await (const some of linesOf(readNamedFile(file ?? '-', invocation.context))) lines.push(...some);
  const counting = new Counting({ codes, pets: undefined });
  requireKind(invocation, lines.join('\n'), options);
  await takeFile(invocation, counting, lines);
  requireCounted(counting, file ?? '-');
  requireAnswer(invocation, options);
  const run = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
  await finishCount(run, counting, options);
}

async function scan(invocation: Invocation, codes: BarCodes, options: FinishOptions): Promise<void> {
  const { context, messages } = invocation;
  const { mode } = options;
  const now = context.clock.now();
  const first = `# petstock inventory count${mode === 'count' ? '' : ` --${mode}`}, begun ${new Date(now).toISOString()}`;
  const file = options.file === undefined ? ScanFile.create(newNames(now), first) : ScanFile.open(options.file, first);
  try {
    requireKind(invocation, file.text, options);
    const run = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
    // Each scan is checked at once, so the list of pets is needed.
    const counting = new Counting({ codes, pets: await petsOf(run) });
    await takeFile(invocation, counting, linesOfText(file.text), true);
    await scanLines(invocation, counting, file, mode);
    requireCounted(counting, file.path);
    const onBegun = async (id: string) => {
      try {
        file.append([`# applied as run ${id}, ${localMinute(context.clock.now())}`]);
      } catch (error) {
        // The history has the run, so this is no reason to stop.
        await messages.warn((error as Error).message);
      }
    };
    await finishCount(run, counting, { ...options, file: file.path, onBegun });
  } catch (error) {
    const isExpected = error instanceof PetstockError && !(error instanceof ChangesFound);
    if (!isExpected || error.hint !== undefined || !file.hasScans) throw error;
    throw error.with({ hint: countLine(invocation, file.path) });
  } finally {
    file.close();
  }
}

/** Yields `count-2026-01-15-120020.txt`, and names with a number behind it. */
function* newNames(now: number): Generator<string> {
  const name = `count-${localMinute(now).replace(' ', '-').replace(':', '')}${`${new Date(now).getSeconds()}`.padStart(2, '0')}`;
  yield `${name}.txt`;
  for (let number = 2; number < 100; number += 1) yield `${name}-${number}.txt`;
}

/** @throws UsageError if scans say that they were made for another kind of count */
function requireKind(invocation: Invocation, text: string, { file, mode }: FinishOptions): void {
  const [found, kind = 'count'] = header.exec(text) ?? [];
  if (found === undefined || kind === mode) return;
  const is = `${file ?? 'stdin'} is ${modeName(kind as CountMode)}, not ${modeName(mode)}`;
  throw new UsageError(`${is}. Nothing was sent`, {
    hint: countLine(invocation, file, { add: kind === 'add' || undefined, take: kind === 'take' || undefined }),
  });
}

/**
 * Takes the lines of a file. Asks about lines with two meanings, if there is somebody to ask.
 * @throws UsageError if scans follow the end of the count
 */
async function takeFile(
  invocation: Invocation,
  counting: Counting,
  text: readonly string[],
  isScanning = false,
): Promise<void> {
  const { questions } = invocation;
  // DOS, and collectors that still follow it, end a file with Ctrl-Z.
  const lines = text.map((line) => line.replace(/^\x1a+|\x1a+$/g, ''));
  counting.lookAhead(lines);
  const asks = questions.willAsk();
  for (const [index, scanned] of lines.entries()) {
    const line = index + 1;
    if (counting.take(scanned, { line, asks }).isDone) {
      requireNothing(lines.slice(line), isScanning);
      return;
    }
    while (counting.question !== undefined)
      counting.take(await questions.text(questionText(line, counting.question)), { line, asks });
  }
}

function questionText(line: number, { text, choices }: ScanQuestion): string {
  return `Line ${line}, ${text} ${choices.map(({ key, about }) => `${key} = ${about}`).join(', ')}:`;
}

/**
 * Checks that no scans follow the end of a count, for example from a second file, because they would be lost silently.
 * @throws UsageError if some do, or will
 */
function requireNothing(lines: readonly string[], willFollow: boolean): void {
  if (willFollow)
    throw new UsageError('The file has a line "done", which ends a count. Remove it to go on. Nothing was sent');
  const next = lines.find((line) => !/^(?:done)?$/i.test(codeText(line)) && !codeText(line).startsWith('#'));
  if (next === undefined) return;
  throw new UsageError(`${quoted(next)} follows "done", which ends a count. Nothing was written`);
}

/** @throws UsageError if nothing was counted; with `--all`, that would set the whole shop to 0 */
function requireCounted({ tally, mistakes }: Counting, name: string): void {
  if (!tally.isEmpty || mistakes.length > 0) return;
  throw new UsageError(`Nothing was counted${name === '-' ? '' : ` in ${name}`}. Nothing was written`);
}

/**
 * Returns the service's pets, with one GET. Returns undefined if the service does not respond, or the rate limit would
 * require too long a wait: the count continues, and pets are checked at its end.
 */
async function petsOf({ invocation, connection }: RunAccess) {
  const pets = new Set<bigint>();
  try {
    for await (const items of connection.client.scanInventory()) for (const { petId } of items) pets.add(petId);
    return pets;
  } catch (error) {
    if (!(error instanceof UnavailableError || error instanceof RateLimitedError)) throw error;
    const quotes = serviceQuotes(error);
    await invocation.messages.warn(`${sentence(error.message)} Pet ids are checked once the count is done`, ...quotes);
    return undefined;
  }
}

/**
 * Scans lines into the file until the count is done.
 * @throws InterruptedError with what was counted
 */
async function scanLines(invocation: Invocation, counting: Counting, file: ScanFile, mode: CountMode): Promise<void> {
  const { stdin, interrupted } = invocation.context;
  const screen = createCountScreen(invocation, () => counting.tally, { mode, names: counting.known.codes.names });
  let isDone = false;
  try {
    // Keys are read without echo if possible, before anything is shown: a scanner is faster than the screen, and one that
    // frames its codes sends the character of Ctrl-C.
    const keys = stdin.keys?.();
    await introduce(invocation, counting, file, mode);
    await screen.begin();
    for await (const lines of linesOf(keys ?? stdin.chunks, keys && screen.typing)) {
      const taken = counting.takeTyped(lines);
      file.append(taken.kept);
      isDone = taken.isDone;
      if (!isDone) interrupted.throwIfAborted();
      if (!isDone || taken.events.length > 0) await screen.show(taken.events);
      if (isDone) break;
    }
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    const kept = file.hasScans ? `${file.path} keeps ${sumText(counting.tally, mode)}` : 'Nothing was counted';
    throw error.with({ message: `Interrupted. ${kept}` });
  } finally {
    await screen.stop(!isDone);
  }
  file.append(counting.leaveQuestion().kept);
}

async function introduce(
  { messages }: Invocation,
  { tally }: Counting,
  file: ScanFile,
  mode: CountMode,
): Promise<void> {
  const [, run] = [...file.text.matchAll(appliedLine)].at(-1) ?? [];
  const was = run === undefined ? '' : `, applied as run ${run.slice(-4)}`;
  const state = file.isNew ? `Scans go to ${file.path}` : `${file.path} holds ${sumText(tally, mode)}${was}`;
  const what = mode === 'count' ? '' : ` It is ${modeName(mode)}.`;
  await messages.note(`${state}.${what} Scan, or type a pet id and Enter.`);
  await messages.note(countHelp);
}
