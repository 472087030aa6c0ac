import { FailureError, type PetstockError } from '../shared/errors.ts';
import { appendToLog, type Confirmed, type LogAppend, type LogAppendResult } from './append-to-log.ts';
import type { NewRun } from './begin-run.ts';
import type { ReadVersion } from './decide.ts';
import type { Grant, Intent, Outcome, Rebased } from './intents-and-outcomes.ts';
import { LeavingNotes } from './leaving-notes.ts';
import { onCurrentState, recover, refuseRepetitionOnce } from './older-copy.ts';
import { OutcomeBuffer } from './outcome-buffer.ts';
import type { PetLock } from './pet-locks.ts';
import { stateReplaced, takenOver, writesLost } from './run-errors.ts';
import { type RunKey, rowNumbers } from './settle-rows.ts';
import type { StateContext } from './state-context.ts';
import { type Durability, type TransactionContext, uniqueName } from './state-database.ts';
import { WriteTurns } from './write-turns.ts';

/** Further contents of a write, besides outcomes. */
type Rest = Partial<Pick<LogAppend, 'intents' | 'since'>> & {
  /** The lock on the pet of the only intent, if the caller holds one. */
  readonly lock?: PetLock | undefined;
  /** Whether this process releases the run, so that another one can take it over. */
  readonly releasesRun?: boolean;
};

/**
 * - `taken`: another process has taken the run over, perhaps even removed it
 * - `lost`: the state lacks writes of this log
 * - `ended`: this process has left the run
 */
type Standing =
  | { readonly kind: 'open' | 'ended' }
  | { readonly kind: 'taken' | 'lost'; readonly error: PetstockError };

/** The log of one run that this process writes. */
export class RunLog {
  readonly #context: StateContext;
  readonly #key: RunKey;
  /** The run, if this process begins it: it is written by `begin`, or together with the intents of its first rows. */
  readonly #new: NewRun | undefined;
  #run: string | undefined;
  readonly #outstanding = new Set<number>();
  readonly #buffer = new OutcomeBuffer();
  readonly #notes: LeavingNotes;
  readonly #turns: WriteTurns;
  readonly #onEnd: () => void;
  #standing: Standing = { kind: 'open' };
  /** Whether a caller has received the reason why nothing more is sent. */
  #isStopReported = false;
  #confirmed: Confirmed = { state: undefined, highest: 0, intent: undefined };
  readonly #known = { outcomes: new Map<number, Outcome>(), rebased: new Map<number, Rebased>() };

  /**
   * @param run a new run, or the id of a run that has begun
   * @param onEnd called once, when this process has left the run
   */
  constructor(context: StateContext, key: RunKey, run: NewRun | string, onEnd: () => void) {
    this.#context = context;
    this.#key = key;
    [this.#new, this.#run] = typeof run === 'string' ? [undefined, run] : [run, undefined];
    this.#onEnd = onEnd;
    const { folder, clock } = context;
    this.#turns = new WriteTurns(clock, async () => {
      if (this.#buffer.waiting > 0) await this.#write('visible', {});
      return { isEmpty: this.#buffer.waiting === 0 };
    });
    this.#notes = new LeavingNotes({ folder, token: key.token, boot: clock.boot() });
    context.presence.retain(this.#outstanding);
  }

  /** Whether the run is in the history. */
  get hasBegun(): boolean {
    return this.#run !== undefined;
  }

  get run(): string {
    if (this.#run !== undefined) return this.#run;
    throw new Error('the run has not begun');
  }

  /**
   * Writes a new run and its rows durably.
   * @throws RepetitionError if the state was replaced and the content may already have been written; DuplicateRunError
   * if another run of the same content has begun since the check
   */
  async begin(): Promise<void> {
    await this.#turns.take(() => this.#write('durable', {}));
  }

  /**
   * Takes the leases of rows and writes their intents, in one durable transaction, right before their requests are
   * sent. Rows that are not granted stay as they were. After this process was suspended for longer than its lease, all
   * rows are `busy` by their own run until its earlier requests are settled. A row of a resumed run is `busy` until no
   * request of the previous process can be in flight.
   * @param since the read version of the stock that the rows depend on; undefined if they depend on none
   * @param lock the acquired lock of the row's pet, whose lease passes to the run
   * @returns for each row, in the same order, whether it may be sent
   * @throws FailureError if the state is gone or can't be written, UnavailableError if it can't be reached,
   * ConflictError if another process has taken the run over: then nothing may be sent
   */
  async intend(rows: readonly Intent[], since: ReadVersion | undefined, lock?: PetLock): Promise<readonly Grant[]> {
    if (this.#standing.kind === 'ended') throw new FailureError(`Run ${this.run} has already ended`);
    this.#requireNotStopped();
    this.#requireInPlace();
    if (this.#context.presence.hasLapsed) return rows.map(() => ({ kind: 'busy', run: this.#run, until: undefined }));
    return this.#turns.take(() => this.#write('durable', { intents: rows, since, lock }));
  }

  /**
   * Notes that the request of a row is about to be sent, before the last check whether it may be sent.
   * @throws FailureError if that can't be noted
   */
  noteSending(row: number): void {
    this.#notes.note(row);
  }

  /**
   * Records the outcomes of rows and returns their leases. If a request of a row may still be in flight, its pet stays
   * locked until none can be. The outcomes are buffered, and written with the next `intend`, after a moment, or by
   * `flush` or `end`, whichever comes first.
   */
  settle(outcomes: readonly Outcome[]): void {
    this.#buffer.add(outcomes);
    for (const outcome of outcomes) {
      this.#known.outcomes.set(outcome.row, outcome);
      this.#outstanding.delete(outcome.row);
    }
    // If the run has not begun, its outcomes are written together with it.
    if (!this.hasBegun) return;
    if (this.#buffer.isFull) this.#turns.writeSoon();
    else this.#turns.writeInTime();
  }

  /**
   * Writes buffered outcomes durably. Does nothing before the run has begun.
   * @throws FailureError if the state can't be written or was removed, UnavailableError if it can't be reached: the
   * history then lacks these outcomes. ConflictError, once, if another process has taken the run over
   */
  async flush(): Promise<void> {
    if (this.#standing.kind !== 'ended' && this.hasBegun) await this.#turns.take(() => this.#writeOut({}));
  }

  /** Flushes, and leaves the run even if the flush throws. May be called again. */
  async end(): Promise<void> {
    if (this.#standing.kind === 'ended') return;
    try {
      if (this.hasBegun) await this.#turns.take(() => this.#writeOut({ releasesRun: true }));
      this.#notes.end();
    } finally {
      await this.#recover().catch(() => {});
      this.#notes.close();
      this.#standing = { kind: 'ended' };
      this.#turns.end();
      this.#context.presence.release(this.#outstanding);
      this.#onEnd();
    }
  }

  /** Writes what this process knows about its rows into the current state, if that state lacks writes of this log. */
  async #recover(): Promise<void> {
    if (this.#standing.kind !== 'lost') return;
    const known = { ...this.#known, isWhole: this.#new !== undefined };
    if (this.#context.database.isInPlace) await recover(this.#context, this.#key, known);
    else await this.#context.elsewhere?.((current) => current.recover(this.#key, known));
  }

  /** Writes outcomes until this connection has confirmed all of them. */
  async #writeOut(rest: Rest): Promise<void> {
    const { database } = this.#context;
    do await this.#write('durable', rest);
    while (this.#buffer.mustRepeat(database.generation));
    if (!this.#isStopReported) this.#requireNotStopped();
  }

  /** Runs one transaction of this log, and returns the grants of `intents`. */
  async #write(kind: Durability, { releasesRun = false, intents = [], since, lock }: Rest): Promise<readonly Grant[]> {
    const { database, presence, notes } = this.#context;
    const { time, generation } = database;
    const outcomes = this.#buffer.take(generation);
    const call = uniqueName();
    const confirmed = this.#confirmed;
    // The first write begins a new run.
    const beginning = this.hasBegun ? undefined : this.#new;
    if (intents.length > 1) this.#notes.begin(call);
    // If the call fails, it is not known whether the confirmed intent of that row was replaced.
    if (intents.some(({ row }) => row === confirmed.intent?.row)) this.#confirmed = { ...confirmed, intent: undefined };
    const work = (at: TransactionContext) => {
      const given: LogAppend = {
        ...{ ...this.#key, beginning, outcomes: [...outcomes.values()], lockOwner: lock?.owner, call, confirmed },
        // The latest possible time, by which no request can be in flight.
        intents: intents.map((intent) => ({ ...intent, inFlightUntil: time.latest(intent.inFlightUntil) })),
        since: since && { sequence: since.sequence, at: time.earliest(since.at) },
        leaving: releasesRun ? this.#outstanding : undefined,
      };
      return appendToLog(this.#context, at, given);
    };
    // Beginning a run and writing intents require presence; settling rows does not.
    const begins = intents.length > 0 || !this.hasBegun;
    const { serviceName } = this.#key;
    const write = () => (begins ? presence.hold(kind, serviceName, work) : database.transact(kind, serviceName, work));
    const written = await onCurrentState(this.#context, write, (state) => {
      if (beginning !== undefined) refuseRepetitionOnce(this.#context, beginning.head, state);
    });
    if (written.kind !== 'gone') this.#run = written.run;
    // A state that was replaced during the write has not kept it.
    if (kind === 'durable') this.#requireInPlace();
    if (written.kind !== 'written') {
      this.#stop(written, intents.length > 0);
      this.#noteWritten(outcomes, generation, kind);
      return [];
    }
    const { grants, last, drawnIn } = written;
    if (kind === 'durable') notes.noteHighest(drawnIn);
    if (beginning !== undefined) notes.noteBegun(beginning.head, drawnIn.state);
    this.#noteWritten(outcomes, generation, kind);
    const granted = intents.filter((_intent, index) => grants[index]?.kind === 'granted');
    for (const { row, rebased } of granted) {
      this.#outstanding.add(row);
      if (rebased !== undefined) this.#known.rebased.set(row, rebased);
    }
    this.#buffer.drop(rowNumbers(granted));
    if (granted.length > 0) lock?.markEnded();
    const row = granted.at(-1)?.row;
    const intent = row === undefined ? confirmed.intent : { row, call };
    this.#confirmed = { state: drawnIn.state, highest: Math.max(confirmed.highest, last), intent };
    return grants.map((grant) => {
      return grant.kind !== 'busy' || grant.until === undefined
        ? grant
        : { ...grant, until: time.localLatest(grant.until) };
    });
  }

  #noteWritten(outcomes: ReadonlyMap<number, Outcome>, generation: number, kind: Durability): void {
    this.#buffer.written(outcomes, generation, kind === 'durable', this.#context.database.generation);
    if (this.#buffer.waiting === 0) this.#turns.clearDeadline();
  }

  /** @throws FailureError if the state was removed or replaced */
  #requireInPlace(): void {
    if (this.#context.database.isInPlace) return;
    this.#standing = { kind: 'lost', error: stateReplaced(this.#context.database, this.#run) };
    throw this.#standing.error;
  }

  #requireNotStopped(): void {
    if (!('error' in this.#standing)) return;
    this.#isStopReported = true;
    throw this.#standing.error;
  }

  /**
   * Notes that nothing more may be sent, because the state did not accept a write. If the write had no intents, throws
   * nothing, because errors of background writes go unreported; `#writeOut` then throws the reason.
   * @throws ConflictError if another process has taken the run over, FailureError if the state lacks something that it
   * had confirmed
   */
  #stop(unwritten: Exclude<LogAppendResult, { readonly kind: 'written' }>, sends: boolean): void {
    const { database } = this.#context;
    if (unwritten.kind === 'taken' && this.#standing.kind !== 'lost') {
      this.#standing = { kind: 'taken', error: takenOver(unwritten.run, unwritten.by ?? 'another process') };
    } else if (unwritten.kind === 'lost' || this.#standing.kind === 'open') {
      const isGone = unwritten.kind === 'gone';
      const error = isGone ? stateReplaced(database, this.#run) : writesLost(database, unwritten.run);
      this.#standing = { kind: 'lost', error };
    }
    if (sends) this.#requireNotStopped();
  }
}
