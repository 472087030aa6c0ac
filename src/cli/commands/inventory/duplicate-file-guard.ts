import { createHash } from 'node:crypto';
import { type Change, isUnclear } from '../../../inventory/change.ts';
import { compareIds } from '../../../inventory/item-fields.ts';
import type { RunRecord } from '../../../inventory/run-records.ts';
import { localTime } from '../../../output/time.ts';
import { ConflictError, UsageError } from '../../../shared/errors.ts';
import { petstock, targetWords } from '../../../shared/hint.ts';
import { sentence } from '../../../shared/parsed.ts';
import type { RunAccess } from '../../runs/run-access.ts';

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

export interface RepeatedFile {
  readonly file: string;
  readonly contentHash: string;
  readonly hasDeltas: boolean;
  readonly again: boolean;
}

/**
 * Keeps a file from being applied twice by accident: by a retry after a crash, by a second process, or by a user who
 * forgot the first time.
 */
export class DuplicateFileGuard {
  #known: ReadonlySet<string> | undefined;
  /** The newest run with this content hash; undefined if there is none, or before the first check. */
  newest: string | undefined;
  #earlier: WrittenRun | undefined;

  constructor(
    private readonly access: RunAccess,
    private readonly repeated: RepeatedFile,
  ) {}

  get contentHash(): string {
    return this.repeated.contentHash;
  }

  get #name(): string {
    return this.repeated.file === '-' ? 'This input' : this.repeated.file;
  }

  /**
   * Checks the runs of the file. Call this before the stock is read, and again right before the run of the file is
   * recorded.
   * @param isDecided whether it is already decided what becomes of deltas that were applied before
   * @returns a clause for the question if the deltas of the file were already written
   * @throws ConflictError if a run of the file is unfinished; UsageError, unless `--again` is given, if its deltas were
   * already written and the user can't be asked, or if they were written since the first call
   */
  async check(isDecided = false): Promise<string | undefined> {
    const { hasDeltas, again } = this.repeated;
    const { invocation } = this.access;
    const runs = await this.#runs();
    refuseUnfinished(this.#name, runs);
    const known = this.#known;
    this.#known = new Set(runs.map(({ run }) => run));
    const written = await this.#lastWritten(runs.filter(({ run }) => known?.has(run) !== true));
    this.#earlier ??= written;
    if (written === undefined || !hasDeltas || isDecided) return undefined;
    const asks = invocation.questions.willAsk();
    const what = this.#appliedText(written);
    if (!again && (known !== undefined || !asks)) {
      throw new UsageError(
        `${what}, and its deltas would be added once more. Nothing was written. To apply it again, add --again`,
        { hint: petstock`history show ${written.run.run}` },
      );
    }
    if (!asks) await invocation.messages.warn(`${what}, and its deltas are added once more`);
    return what;
  }

  /** @throws ConflictError if a run of the file is unfinished */
  async requireFinished(): Promise<void> {
    refuseUnfinished(this.#name, await this.#runs());
  }

  async #runs(): Promise<readonly RunRecord[]> {
    const { history, service } = this.access.connection;
    const runs = await history.runsOfFile(service, this.repeated.contentHash);
    this.newest = runs[0]?.run;
    return runs;
  }

  /** Adds to a conflict which run has already written the file. Returns any other error unchanged. */
  withEarlierRun(error: unknown): unknown {
    const earlier = this.#earlier;
    if (earlier === undefined || !(error instanceof ConflictError) || error.run !== undefined) return error;
    const message = `${sentence(error.message)} ${this.#appliedText(earlier)}`;
    return error.with({ message, hint: petstock`history show ${earlier.run.run}` });
  }

  /** Returns the newest run that has written, or may have written, a row that was not undone since. */
  async #lastWritten(runs: readonly RunRecord[]): Promise<WrittenRun | undefined> {
    const { history } = this.access.connection;
    for (const run of runs) {
      let isPossible = false;
      for await (const { result, error, undoneBy } of history.rows(run.run, mayBeApplied)) {
        if (undoneBy !== undefined) continue;
        if (result === 'applied' || result === 'differs') return { run, isCertain: true };
        isPossible ||= result === 'unknown' || isUnclear({ result, error });
      }
      if (isPossible) return { run, isCertain: false };
    }
    return undefined;
  }

  #appliedText({ run: { at, run }, isCertain }: WrittenRun): string {
    const was = isCertain ? 'was' : 'may have been';
    return `${this.#name} ${was} applied at ${localTime(at, this.access.invocation.context.clock.now())} by run ${run.slice(-4)}`;
  }
}

interface WrittenRun {
  readonly run: RunRecord;
  /** Whether at least one of its rows was certainly written. */
  readonly isCertain: boolean;
}

/** The results of rows that were or may have been written. The rows of a discarded run may be unknown. */
const mayBeApplied = ['applied', 'differs', 'conflict', 'unknown'] as const;

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
