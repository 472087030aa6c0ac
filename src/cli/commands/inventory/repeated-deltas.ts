import type { BulkRow, Change } from '../../../inventory/change.ts';
import { type EarlierChange, type RepeatedDelta, repeatedDeltas } from '../../../inventory/earlier-changes.ts';
import { counted, grouped } from '../../../inventory/items.ts';
import { petLine } from '../../../output/count-text.ts';
import { truncate } from '../../../output/text-width.ts';
import { localTime } from '../../../output/time.ts';
import { UsageError } from '../../../shared/errors.ts';
import { petstock } from '../../../shared/hint.ts';
import { quoted } from '../../../shared/parsed.ts';
import { earlierChanges } from '../../runs/earlier-changes.ts';
import type { RunAccess } from '../../runs/run-access.ts';

export interface RepeatOptions {
  /** Whether deltas that were applied before are applied once more. */
  readonly again: boolean;
  /** Whether they are left out. */
  readonly skipApplied: boolean;
  /** The names of the pets; undefined if there are none. */
  readonly names: ReadonlyMap<bigint, string> | undefined;
  /** Returns this command with `--skip-applied`, for a hint. */
  skipCommand(): string;
}

/** For more refs than this, all changes of the pets are read. */
const maxRefs = 20;

/**
 * Finds deltas whose pets were already changed under the same `ref`, whatever else the file holds: a delivery note that
 * was corrected or extended, or the same scans once more.
 */
export class RepeatedDeltas {
  readonly #knownRuns = new Set<string>();
  #skipped: ReadonlySet<bigint> = new Set();
  #isTold = false;
  /** The deltas that have a ref. Others are not kept during the run. */
  readonly #named: readonly Change[];
  readonly #areAllNamed: boolean;

  constructor(
    private readonly access: RunAccess,
    changes: readonly Change[],
    private readonly options: RepeatOptions,
  ) {
    const deltas = changes.filter(({ delta }) => delta !== undefined);
    this.#named = deltas.filter(({ ref }) => ref !== undefined);
    this.#areAllNamed = this.#named.length === deltas.length;
  }

  /** The pets that `--skip-applied` leaves out. */
  get skipped(): ReadonlySet<bigint> {
    return this.#skipped;
  }

  /**
   * Reports whether it is decided what becomes of deltas that were applied before: the user knows of them, or each has a
   * ref, and is left out if it was applied.
   */
  get isDecided(): boolean {
    return this.#isTold || (this.options.skipApplied && this.#areAllNamed);
  }

  /**
   * Looks in the history. Call this before anything is sent.
   * @returns a clause for the question; undefined if no delta was applied before, or all that were are left out
   * @throws UsageError if the user can't be asked, and neither `--again` nor `--skip-applied` decides it
   */
  async check(): Promise<string | undefined> {
    const { again, skipApplied } = this.options;
    const { messages, questions } = this.access.invocation;
    const repeated = await this.#find();
    for (const { earlier } of repeated) for (const { run } of earlier) this.#knownRuns.add(run);
    if (skipApplied) this.#skipped = new Set(repeated.flatMap(({ isSame, change }) => (isSame ? change.petId : [])));
    const open = skipApplied ? repeated.filter(({ isSame }) => !isSame) : repeated;
    if (open.length === 0) return undefined;
    const what = this.#what(open);
    if (!(again || questions.willAsk())) throw this.#refusal(open, 'Nothing was sent');
    this.#isTold = true;
    await messages.warn(again ? `${what}, and ${open.length === 1 ? 'is' : 'are'} changed once more` : what);
    await messages.show((_paint, width) => open.map((each) => `  ${this.#lineOf(each, width - 2)}`), { always: true });
    return what;
  }

  /**
   * Looks in the history again, right before the run is recorded.
   * @throws UsageError if another command has applied one of the deltas meanwhile
   */
  async requireNoOthers(): Promise<void> {
    const repeated = (await this.#find()).filter(({ change }) => !this.#skipped.has(change.petId));
    const newer = repeated.filter(({ earlier }) => earlier.some(({ run }) => !this.#knownRuns.has(run)));
    if (newer.length > 0) throw this.#refusal(newer, 'Nothing was written');
  }

  async #find(): Promise<readonly RepeatedDelta[]> {
    const { access } = this;
    const named = this.#named;
    const refs = [...new Set(named.flatMap(({ ref }) => ref ?? []))];
    const petIds = named.map(({ petId }) => petId);
    if (refs.length > maxRefs) return repeatedDeltas(named, await earlierChanges(access, { petIds }));
    const earlier: EarlierChange[] = [];
    for (const ref of refs) {
      // A run may have rows of several refs.
      earlier.push(...(await earlierChanges(access, { ref })).filter((row) => row.ref === ref));
    }
    return repeatedDeltas(named, earlier);
  }

  #what(repeated: readonly RepeatedDelta[]): string {
    const [ref = '', ...others] = new Set(repeated.map(({ change }) => change.ref));
    const were = `${counted(repeated.length, 'pet')} ${repeated.length === 1 ? 'was' : 'were'} already changed`;
    return `${were} under ${others.length === 0 ? `ref ${quoted(ref)}` : 'the same ref'}`;
  }

  #refusal(repeated: readonly RepeatedDelta[], notDone: string): UsageError {
    const areSame = repeated.every(({ isSame }) => isSame);
    const ways = areSame
      ? 'To leave them out, add --skip-applied. To change them once more, add --again'
      : 'The numbers differ: check the delivery note. To change them once more, add --again';
    const [run = ''] = repeated.flatMap(({ earlier }) => earlier.map(({ run }) => run));
    return new UsageError(`${this.#what(repeated)}. ${notDone}. ${ways}`, {
      lines: repeated.map((each) => this.#lineOf(each, Number.POSITIVE_INFINITY)),
      hint: areSame ? this.options.skipCommand() : petstock`history show ${run}`,
    });
  }

  #lineOf({ change, earlier }: RepeatedDelta, width: number): string {
    const now = this.access.invocation.context.clock.now();
    const before = earlier.map(
      ({ delta, run, at }) => `${signed(delta)} by run ${run.slice(-4)} at ${localTime(at, now)}`,
    );
    const text = `: ${before.join(', ')}; now ${signed(change.delta)}`;
    return truncate(petLine(change.petId, text, this.options.names ?? new Map(), width), width);
  }
}

/** Returns the row of a delta that is left out, because it was applied before. */
export function skippedRow({ line, petId, delta, reason, ref }: Change, before: number | undefined): BulkRow {
  return { line, petId, before, after: before, delta, result: 'skipped', reason, ref };
}

function signed(delta = 0): string {
  return `${delta > 0 ? '+' : ''}${grouped(delta)}`;
}
