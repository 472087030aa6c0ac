import { createHash } from 'node:crypto';
import { type Change, isUnclear } from '../../inventory/change.ts';
import {
  type EarlierChange,
  partsOfRef,
  type RepeatedDelta,
  repeatedDeltas,
  sameDelivery,
} from '../../inventory/earlier-changes.ts';
import { compareIds } from '../../inventory/item-fields.ts';
import { counted, listed, signed } from '../../inventory/items.ts';
import type { RecordedResult, RunFilter, RunRecord } from '../../inventory/run-records.ts';
import { petLine } from '../../output/count-text.ts';
import { truncate } from '../../output/text-width.ts';
import { localTime } from '../../output/time.ts';
import { ConflictError, UsageError } from '../../shared/errors.ts';
import { petstock, targetWords } from '../../shared/hint.ts';
import { quoted, sentence } from '../../shared/parsed.ts';
import type { RunAccess } from './run-access.ts';

/** The results of rows that were or may have been written, that a resume writes, or that a stock-take confirmed. */
const possible: readonly RecordedResult[] = ['applied', 'unchanged', 'differs', 'unknown', 'conflict', 'pending'];

/**
 * Returns the changes of this service that were or may have been written, or that the resume of an unfinished run would
 * write, and the counts that stock-takes have confirmed, without what was undone. The newest run comes first.
 */
export async function earlierChanges(
  { connection: { history, service, target } }: RunAccess,
  filter: Pick<RunFilter, 'ref' | 'since' | 'petIds' | 'limit'>,
): Promise<readonly EarlierChange[]> {
  const found: EarlierChange[] = [];
  const { env, store = null } = target;
  for await (const run of history.runs({ env, store, ...filter })) {
    if (run.service !== service) continue;
    for await (const row of history.rows(run.run, possible)) {
      if (row.undoneBy !== undefined || (row.result === 'conflict' && !isUnclear(row))) continue;
      if (row.result === 'pending' && run.state === 'done') continue;
      const { petId, before, delta, reason, ref } = row;
      const after = row.quantity ?? row.after;
      const isCertain = ['applied', 'differs', 'unchanged'].includes(row.result);
      const { at, command, file } = run;
      found.push({ run: run.run, at, command, file, petId, before, after, delta, reason, ref, isCertain });
    }
  }
  return found;
}

/**
 * Returns the identity of a change file: a hash of its rows, sorted by pet. It ignores the format, separators, line
 * ends and the order of rows, so a file keeps its identity when a spreadsheet saves it again. It also ignores reasons,
 * and deltas of 0 that expect no stock.
 */
export function contentHashOf(changes: readonly Change[]): string {
  const counting = changes.filter(({ delta, expected }) => delta !== 0 || expected !== undefined);
  const sorted = counting.toSorted((left, right) => compareIds(left.petId, right.petId));
  const hash = createHash('sha256').update('rows 2\n');
  for (const { petId, quantity, delta, expected, ref } of sorted) {
    hash.update(`${JSON.stringify([`${petId}`, quantity, delta, expected, ref])}\n`);
  }
  return hash.digest('hex');
}

export interface AppliedOptions {
  /** The file of the changes, `-` for stdin; undefined if the same changes may come again, apart from their refs. */
  readonly file: string | undefined;
  /** Whether deltas that were applied before are applied once more. */
  readonly again: boolean;
  /** Whether they are left out. */
  readonly skipApplied: boolean;
  /** Whether nothing is to be written: a file that was applied before is then refused after its plan is shown. */
  readonly dryRun: boolean;
  /** The names of the pets; undefined if there are none. */
  readonly names: ReadonlyMap<bigint, string> | undefined;
  /** Returns this command with `--skip-applied`, for a hint; absent if it has no such option. */
  skipCommand?(): string;
}

/** For more refs than this, all changes of the pets are read. */
const maxRefs = 20;
/** How long ago the same delivery may have come without a ref, in milliseconds, and in how many runs it is looked for. */
const morning = 12 * 3600 * 1000;
const maxRuns = 20;

/**
 * Keeps changes from being written twice by accident: by a retry after a crash, by a second process, by a user who
 * forgot the first time, with a delivery note that was corrected or extended, or with the same scans once more.
 */
export class AppliedBefore {
  /** A clause for the question; undefined if nothing was applied before, or if what was is left out. */
  earlier: string | undefined;
  /** The pets whose delta was applied before, and is left out. */
  skipped: ReadonlySet<bigint> = new Set();
  readonly #hash: string;
  readonly #hasDeltas: boolean;
  /** The deltas that have a ref. Others are not kept during the run. */
  readonly #named: readonly Change[];
  /** Whether the user knows of deltas that were applied before, or each has a ref and is left out if it was. */
  #isDecided: boolean;
  /** The runs that the first look has found. */
  readonly #known = new Set<string>();
  /** The newest run with this content. */
  #newest: string | undefined;
  #written: WrittenRun | undefined;

  private constructor(
    private readonly access: RunAccess,
    changes: readonly Change[],
    private readonly options: AppliedOptions,
  ) {
    const deltas = changes.filter(({ delta }) => delta !== undefined);
    this.#hash = contentHashOf(changes);
    this.#hasDeltas = deltas.length > 0;
    this.#named = deltas.filter(({ ref }) => ref !== undefined);
    this.#isDecided = options.skipApplied && this.#named.length === deltas.length;
  }

  /**
   * Looks in the history. Call this before anything is sent.
   * @throws ConflictError if a run of the file is unfinished; UsageError if deltas were already written, and neither the
   * user nor an option decides what becomes of them
   */
  static async look(access: RunAccess, changes: readonly Change[], options: AppliedOptions): Promise<AppliedBefore> {
    const before = new AppliedBefore(access, changes, options);
    before.earlier = await before.#look(changes);
    return before;
  }

  async #look(changes: readonly Change[]): Promise<string | undefined> {
    const { dryRun } = this.options;
    const runs = await this.#runsOfFile();
    if (this.#hasDeltas || !dryRun) refuseUnfinished(this.#name, runs);
    const told = await this.#tellOfRefs();
    this.#written = await this.#lastWritten(runs);
    if (!dryRun) for (const { run } of runs) this.#known.add(run);
    if (told !== undefined || !this.#hasDeltas || this.#isDecided) return told;
    if (this.#written === undefined) return this.#tellOfSame(changes);
    return dryRun ? undefined : this.#tellOfFile(this.#written);
  }

  /** The fields of a run's head that tell the same changes when they come again. */
  get content() {
    return { file: this.options.file, contentHash: this.#hash };
  }

  /**
   * Looks in the history again, right before the run is recorded, and at the end of a dry run.
   * @returns the newest run of the same content; undefined if the content may come again
   * @throws ConflictError or UsageError if another command has applied some of the changes meanwhile
   */
  async requireStill(): Promise<{ readonly run: string | undefined } | undefined> {
    const repeated = (await this.#find()).filter(({ change }) => !this.skipped.has(change.petId));
    const newer = repeated.filter(({ earlier }) => earlier.some(({ run }) => !this.#known.has(run)));
    if (newer.length > 0) throw this.#refusal(newer, 'Nothing was written');
    const runs = await this.#runsOfFile();
    refuseUnfinished(this.#name, runs);
    const written = await this.#lastWritten(runs.filter(({ run }) => !this.#known.has(run)));
    this.#written ??= written;
    const { again, dryRun } = this.options;
    const isAsked = dryRun && this.access.invocation.questions.willAsk();
    if (written !== undefined && this.#hasDeltas && !(this.#isDecided || again || isAsked)) {
      throw this.#duplicate(written);
    }
    return this.options.file === undefined ? undefined : { run: this.#newest };
  }

  /** Adds to a conflict which run has already written the file. Returns any other error unchanged. */
  explain(error: unknown): unknown {
    const written = this.#written;
    if (written === undefined || !(error instanceof ConflictError) || error.run !== undefined) return error;
    const message = `${sentence(error.message)} ${this.#appliedText(written)}`;
    return error.with({ message, hint: petstock`history show ${written.run.run}` });
  }

  get #name(): string {
    const { file = '-' } = this.options;
    return file === '-' ? 'This input' : file;
  }

  async #runsOfFile(): Promise<readonly RunRecord[]> {
    if (this.options.file === undefined) return [];
    const { history, service } = this.access.connection;
    const runs = await history.runsOfFile(service, this.#hash);
    this.#newest = runs[0]?.run;
    return runs;
  }

  /** Returns the newest run that has written, or may have written, a row that was not undone since. */
  async #lastWritten(runs: readonly RunRecord[]): Promise<WrittenRun | undefined> {
    const { history } = this.access.connection;
    for (const run of runs) {
      let isPossible = false;
      for await (const { result, error, undoneBy } of history.rows(run.run, possible)) {
        if (undoneBy !== undefined) continue;
        if (result === 'applied' || result === 'differs') return { run, isCertain: true };
        isPossible ||= result === 'unknown' || isUnclear({ result, error });
      }
      if (isPossible) return { run, isCertain: false };
    }
    return undefined;
  }

  async #tellOfFile(written: WrittenRun): Promise<string> {
    const { messages, questions } = this.access.invocation;
    const asks = questions.willAsk();
    if (!(this.options.again || asks)) throw this.#duplicate(written);
    const what = this.#appliedText(written);
    if (!asks) await messages.warn(`${what}, and its deltas are added once more`);
    return what;
  }

  #duplicate(written: WrittenRun): UsageError {
    const what = `${this.#appliedText(written)}, and its deltas would be added once more`;
    return new UsageError(`${what}. Nothing was written. To apply it again, add --again`, {
      hint: petstock`history show ${written.run.run}`,
    });
  }

  #appliedText({ run: { at, run }, isCertain }: WrittenRun): string {
    const when = localTime(at, this.access.invocation.context.clock.now());
    return `${this.#name} ${isCertain ? 'was' : 'may have been'} applied at ${when} by run ${run.slice(-4)}`;
  }

  /** Warns of a delivery without a ref of which some run has already added most. */
  async #tellOfSame(changes: readonly Change[]): Promise<string | undefined> {
    const { clock } = this.access.invocation.context;
    const incoming = changes.filter(({ delta = 0, ref }) => delta > 0 && ref === undefined);
    if (this.options.again || incoming.length < 2) return undefined;
    const filter = { since: clock.now() - morning, petIds: incoming.map(({ petId }) => petId), limit: maxRuns };
    const found = sameDelivery(incoming, await earlierChanges(this.access, filter));
    if (found === undefined) return undefined;
    const what = `${counted(found.pets, 'pet')} already got the same units ${this.#whenText(found)}`;
    await this.access.invocation.messages.warn(`${what}. With a ref, each delivery is recognized for certain`);
    return what;
  }

  async #tellOfRefs(): Promise<string | undefined> {
    const { again, skipApplied } = this.options;
    const { messages, questions } = this.access.invocation;
    const repeated = await this.#find();
    for (const { earlier } of repeated) for (const { run } of earlier) this.#known.add(run);
    if (skipApplied) this.skipped = new Set(repeated.flatMap(({ isSame, change }) => (isSame ? change.petId : [])));
    const open = skipApplied ? repeated.filter(({ isSame }) => !isSame) : repeated;
    if (open.length === 0) return undefined;
    const what = whatOf(open);
    if (!(again || questions.willAsk())) throw this.#refusal(open, 'Nothing was sent');
    this.#isDecided = true;
    await messages.warn(again ? `${what}, and ${open.length === 1 ? 'is' : 'are'} changed once more` : what);
    const lines = (width: number) => listed(open, (each) => this.#lineOf(each, width - 2));
    await messages.show((_paint, width) => lines(width).map((line) => `  ${line}`), { always: true });
    return what;
  }

  async #find(): Promise<readonly RepeatedDelta[]> {
    const { access } = this;
    const named = this.#named;
    const refs = [...new Set(named.flatMap(({ ref }) => (ref === undefined ? [] : partsOfRef(ref))))];
    if (refs.length > maxRefs) {
      return repeatedDeltas(named, await earlierChanges(access, { petIds: named.map(({ petId }) => petId) }));
    }
    const rows = new Map<string, EarlierChange>();
    for (const ref of refs) {
      // A run may have rows of several refs, and a row, too.
      for (const row of await earlierChanges(access, { ref })) rows.set(`${row.run} ${row.petId}`, row);
    }
    return repeatedDeltas(
      named,
      [...rows.values()].toSorted((one, other) => other.at - one.at),
    );
  }

  #refusal(repeated: readonly RepeatedDelta[], notDone: string): UsageError {
    const { skipCommand } = this.options;
    const areSame = repeated.every(({ isSame }) => isSame);
    const them = repeated.length === 1 ? 'it' : 'them';
    const skip = areSame && skipCommand !== undefined ? `To leave ${them} out, add --skip-applied. ` : '';
    const differ = areSame ? '' : 'The numbers differ: check the delivery note. ';
    const [run = ''] = repeated.flatMap(({ earlier }) => earlier.map(({ run }) => run));
    return new UsageError(`${whatOf(repeated)}. ${notDone}. ${differ}${skip}To change ${them} once more, add --again`, {
      lines: repeated.map((each) => this.#lineOf(each, Number.POSITIVE_INFINITY)),
      hint: areSame && skipCommand !== undefined ? skipCommand() : petstock`history show ${run}`,
    });
  }

  #lineOf({ change, earlier }: RepeatedDelta, width: number): string {
    const before = earlier.map((row) => {
      const ref = row.ref === change.ref ? '' : ` (${quoted(row.ref ?? '')})`;
      return `${signed(row.delta ?? 0)}${row.isCertain ? '' : ' perhaps'} ${this.#whenText(row)}${ref}`;
    });
    const text = `: ${before.join(', ')}; now ${signed(change.delta ?? 0)}`;
    return truncate(petLine(change.petId, text, this.options.names ?? new Map(), width), width);
  }

  /** Returns `by run k3x9 at 14:05:00`. */
  #whenText({ run, at }: Pick<EarlierChange, 'run' | 'at'>): string {
    return `by run ${run.slice(-4)} at ${localTime(at, this.access.invocation.context.clock.now())}`;
  }
}

interface WrittenRun {
  readonly run: RunRecord;
  /** Whether at least one of its rows was certainly written. */
  readonly isCertain: boolean;
}

function refuseUnfinished(name: string, runs: readonly RunRecord[]): void {
  const running = runs.find(({ state }) => state === 'running');
  if (running !== undefined) {
    throw new ConflictError(`${name} is being applied by run ${running.run}. Nothing was written`, {
      hint: petstock`history show ${running.run}`,
      run: running.run,
    });
  }
  const open = runs.find(({ state }) => state !== 'done');
  if (open !== undefined) {
    throw new ConflictError(`${name} belongs to run ${open.run}, which is unfinished. Nothing was written`, {
      hint: petstock`inventory apply --resume ${open.run} ${targetWords(open)}`,
      run: open.run,
    });
  }
}

/** Returns, for example, `2 pets were already changed under ref "N-31"`. */
function whatOf(repeated: readonly RepeatedDelta[]): string {
  const [ref = '', ...others] = new Set(repeated.map(({ change }) => change.ref));
  const isCertain = repeated.every(({ earlier }) => earlier.some((row) => row.isCertain));
  const were = isCertain ? (repeated.length === 1 ? 'was already' : 'were already') : 'may already have been';
  const under = others.length === 0 ? `ref ${quoted(ref)}` : 'the same ref';
  return `${counted(repeated.length, 'pet')} ${were} changed under ${under}`;
}
