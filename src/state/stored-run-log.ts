import { ConflictError, FailureError } from '../shared/errors.ts';
import { petstock } from '../shared/hint.ts';
import { beginRun, type NewRun } from './begin-run.ts';
import type { ReadVersion } from './decide.ts';
import { drawnIn } from './highest-number.ts';
import type { Grant, Intent, KnownRow, Outcome } from './history.ts';
import { appendToLog, type LogAppend, type LogAppendResult, type RunKey, selectForAppend } from './intend-rows.ts';
import { LeavingNotes } from './leaving-notes.ts';
import { isOlder, onCurrentState, recovering, refuseRepetition, requireCurrent } from './older-copy.ts';
import { OutcomeBuffer } from './outcome-buffer.ts';
import type { StateContext } from './state-context.ts';
import { type Durability, type TransactionContext, type TransactionSteps, uniqueName } from './state-database.ts';
import { statement } from './statements.ts';
import type { PetLock } from './stored-pets.ts';
import { WriteTurns } from './write-turns.ts';

/** Maximum number of outcomes that are buffered. */
const maxWaiting = 1024;

/** Further contents of a write, besides outcomes. */
type Rest = Partial<Pick<LogAppend, 'intents' | 'since'>> & {
  /** The lock that holds the pet of the intent. */
  readonly lock?: PetLock | undefined;
  /** Whether this process leaves the run. */
  readonly leaves?: boolean;
};

/** The log of one run that this process writes. */
export class RunLog {
  readonly #context: StateContext;
  readonly #key: RunKey;
  /** A new run is written together with the intents of its first rows. */
  readonly #new: NewRun | undefined;
  #run: string | undefined;
  readonly #outstanding = new Set<number>();
  readonly #buffer = new OutcomeBuffer();
  readonly #notes: LeavingNotes;
  readonly #turns: WriteTurns;
  readonly #onEnd: () => void;
  #hasEnded = false;
  /**
   * Why nothing more is sent: another process has taken the run over, perhaps even removed it, or the state has lost
   * part of it.
   */
  #stopped: Error | undefined;
  #isStopTold = false;
  #confirmed: LogAppend['confirmed'];
  #highestSeen = 0;
  /** The outcomes of the rows, and the stocks that deltas were added to: an older copy of the state may lack them. */
  readonly #outcomes = new Map<number, Outcome>();
  readonly #rebased = new Map<number, Intent['rebased']>();
  /** The name of the state that this log has written to. */
  #state: string | undefined;
  #isLost = false;

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
   * @throws the same errors as `History.begin`
   */
  async begin(): Promise<void> {
    await this.#turns.take(() => this.#write('durable', {}));
  }

  /**
   * Takes the leases of rows and writes their intents, in one durable transaction, right before their requests are
   * sent. Rows that are not granted stay as they were.
   *
   * After this process was stopped for longer than its lease, all rows are `busy` by their own run until its earlier
   * requests are settled. A row of a resumed run is `busy` until no request of the previous process can be in flight.
   * @param since the read version of the stock that the rows are based on; undefined: they are based on none
   * @param lock the acquired lock of the row's pet, whose lease passes to the run
   * @returns for each row, in the same order, whether it may be sent
   * @throws FailureError if the state is gone or can't be written, ConflictError if another process has taken the run
   * over: then nothing may be sent
   */
  async intend(rows: readonly Intent[], since: ReadVersion | undefined, lock?: PetLock): Promise<readonly Grant[]> {
    if (this.#hasEnded) throw new FailureError(`Run ${this.run} has been ended`);
    this.#requireNotStopped();
    this.#requireInPlace();
    const { presence } = this.#context;
    if (presence.hasLapsed) return rows.map(() => ({ kind: 'busy', run: this.#run, until: undefined }));
    return this.#turns.take(() => this.#write('durable', { intents: rows, since, lock }));
  }

  /**
   * Notes that the request of a row is about to be sent, before the last check whether it may be.
   * @throws FailureError if that can't be noted
   */
  leaves(row: number): void {
    this.#notes.note(row);
  }

  /**
   * Records the outcomes of rows and returns their leases, except for `unknown`, whose pet stays locked until no
   * request of it can be in flight. Buffered: written with the next `intend`, after a moment, or by `end`, whichever
   * comes first.
   */
  settle(outcomes: readonly Outcome[]): void {
    this.#buffer.add(outcomes);
    for (const outcome of outcomes) {
      this.#outstanding.delete(outcome.row);
      this.#outcomes.set(outcome.row, outcome);
    }
    // The outcomes of a run that has not begun are written with it.
    if (!this.hasBegun) return;
    if (this.#buffer.waiting >= maxWaiting) this.#turns.writeSoon();
    else this.#turns.writeInTime();
  }

  /**
   * Writes buffered outcomes durably.
   * @throws FailureError if that fails, or if the state was removed meanwhile: then the history lacks them
   */
  async flush(): Promise<void> {
    if (!this.#hasEnded && this.hasBegun) await this.#turns.take(() => this.#writeOut({}));
  }

  /** Flushes, and leaves the run even if the flush throws. May be called again. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    try {
      if (this.hasBegun) await this.#turns.take(() => this.#writeOut({ leaves: true }));
      this.#notes.end();
    } finally {
      if (this.#isLost) await this.#recover().catch(() => {});
      this.#notes.close();
      this.#hasEnded = true;
      this.#turns.end();
      this.#context.presence.release(this.#outstanding);
      this.#onEnd();
    }
  }

  /** Writes the known outcomes into the state that is there now. */
  async #recover(): Promise<void> {
    const { database, reopen, highest } = this.#context;
    const known: ReadonlyMap<number, KnownRow> = new Map(
      [...this.#outcomes].map(([row, outcome]) => [row, { outcome, rebased: this.#rebased.get(row) }]),
    );
    const isWhole = this.#new !== undefined;
    if (database.isInPlace) {
      await database.transact('durable', this.#key.serviceName, (at) =>
        recovering(at, this.#key, known, isWhole, highest),
      );
      return;
    }
    const state = await reopen();
    await state?.history.recover(this.#key, known, isWhole);
    await state?.close();
  }

  /** Writes outcomes until none is left that only an earlier connection has written. */
  async #writeOut(rest: Rest): Promise<void> {
    const { database } = this.#context;
    do await this.#write('durable', rest);
    while (this.#buffer.mustRepeat(database.generation));
    if (!this.#isStopTold) this.#requireNotStopped();
  }

  /** Runs one transaction of this log; the first one begins a new run. */
  async #write(kind: Durability, { leaves = false, intents = [], since, lock }: Rest): Promise<readonly Grant[]> {
    const { database, presence } = this.#context;
    const takenFor = database.generation;
    const taken = this.#buffer.take(takenFor);
    const call = uniqueName();
    const confirmed = this.#confirmed;
    if (intents.length > 1) this.#notes.begin(call);
    // If the call fails, it is not known whether the confirmed intent of that row was replaced.
    if (intents.some(({ row }) => row === confirmed?.row)) this.#confirmed = undefined;
    const work = (at: TransactionContext) => {
      const given: LogAppend = {
        ...this.#key,
        // The latest possible time, by which no request can be in flight.
        intents: intents.map((intent) => ({ ...intent, inFlightUntil: database.time.latest(intent.inFlightUntil) })),
        since: since && { sequence: since.sequence, at: database.time.earliest(since.at) },
        lockOwner: lock?.owner,
        outcomes: [...taken.values()],
        call,
        confirmed,
        highestSeen: this.#highestSeen,
      };
      return this.#working(at, given, leaves);
    };
    // Beginning a run or a row requires presence; ending one does not.
    const begins = intents.length > 0 || !this.hasBegun;
    const { serviceName } = this.#key;
    const write = () => (begins ? presence.hold(kind, serviceName, work) : database.transact(kind, serviceName, work));
    const isNew = this.#new !== undefined && !this.hasBegun;
    const written = await onCurrentState(this.#context, write, (state) => this.#refuseRepetition(state));
    if (written.kind !== 'gone') this.#run = written.run;
    // A state that was replaced during the write has not kept it.
    if (kind === 'durable') this.#requireInPlace();
    const grants = this.#requireWritten(written, intents.length > 0);
    if (kind === 'durable' && written.kind === 'written') this.#context.highest.note(written.drawnIn);
    if (isNew && written.kind === 'written') this.#context.begun.note(this.#new?.head, written.drawnIn.state);
    const granted = intents.flatMap(({ row, rebased }, index) => {
      if (grants[index]?.kind !== 'granted') return [];
      if (rebased !== undefined) this.#rebased.set(row, rebased);
      return [row];
    });
    this.#buffer.written(taken, takenFor, kind === 'durable', database.generation);
    if (this.#buffer.waiting === 0) this.#turns.clearDeadline();
    this.#buffer.forget(granted);
    for (const row of granted) this.#outstanding.add(row);
    if (granted.length > 0) lock?.passToRun();
    const last = granted.at(-1);
    this.#confirmed = last === undefined ? confirmed : { row: last, call };
    return grants.map((grant) => {
      return grant.kind !== 'busy' || grant.until === undefined
        ? grant
        : { ...grant, until: database.time.localLatest(grant.until) };
    });
  }

  *#working(at: TransactionContext, given: LogAppend, leaves: boolean): TransactionSteps<LogAppendResult> {
    const { presence } = this.#context;
    const loads = selectForAppend(given);
    const isNew = this.#new !== undefined && !this.hasBegun;
    const loaded = isNew ? yield* beginRun(at, given.token, this.#new, loads) : yield loads;
    const [[head] = [], [meta] = []] = loaded;
    if (isNew) {
      yield* requireCurrent(meta, this.#context);
      this.#requireNew(drawnIn(meta).state);
    }
    // Another process may have repaired the older copy and renamed it.
    const isAnother = this.#state !== undefined && this.#state !== drawnIn(meta).state;
    const isBehind = isAnother || (yield* isOlder(meta, this.#context.highest));
    if (head !== undefined && isBehind) return { kind: 'lost', run: String(head.run) };
    const written = yield* appendToLog(presence, at, given, loaded);
    if (leaves) {
      const leave = 'UPDATE petstock.runs SET holder = NULL WHERE token = ? AND holder = ?';
      at.writes.push(statement(leave, given.token, presence.id), ...presence.leaving(at, this.#outstanding));
    }
    return written;
  }

  #requireInPlace(): void {
    if (!this.#context.database.isInPlace) throw this.#replaced();
  }

  /**
   * @throws RepetitionError if this machine has begun the content in another state (such as one before an older copy)
   * and the history lacks it
   */
  #requireNew(state: string): void {
    const known = this.#context.begun.stateOf(this.#new?.head);
    if (known !== undefined && known !== state && this.#new?.follows?.run === undefined) this.#refuseRepetition(state);
  }

  /** Refuses the content once: whoever runs the command again has looked at the stock. */
  #refuseRepetition(state: string): void {
    if (this.#new === undefined) return;
    this.#context.begun.note(this.#new.head, state);
    refuseRepetition(this.#context, this.#new.head);
  }

  #replaced(): FailureError {
    const [name, run] = [this.#context.database.name, this.hasBegun ? `run ${this.run}` : 'the run'];
    this.#isLost = true;
    const what = `${name} was removed or replaced during ${run}`;
    return new FailureError(`${what}. Nothing more is sent, and the history of the run may be incomplete`);
  }

  #requireNotStopped(): void {
    if (this.#stopped === undefined) return;
    this.#isStopTold = true;
    throw this.#stopped;
  }

  /**
   * @throws ConflictError if another process has taken the run over, FailureError if the state lacks something that it
   * had confirmed. If nothing is to be sent, `#writeOut` throws instead, because errors of background writes go
   * unreported
   */
  #requireWritten(written: LogAppendResult, sends: boolean): readonly Grant[] {
    if (written.kind === 'written') {
      this.#state = written.drawnIn.state;
      this.#highestSeen = Math.max(this.#highestSeen, written.last);
      return written.grants;
    }
    if (written.kind === 'gone') {
      if (this.#stopped !== undefined && !sends) return [];
      throw this.#replaced();
    }
    this.#stopped ??= written.kind === 'lost' ? this.#lost() : this.#takenOver(written.by ?? 'another process');
    if (sends) this.#requireNotStopped();
    return [];
  }

  #takenOver(by: string): ConflictError {
    return new ConflictError(`Run ${this.run} was taken over by ${by}. This process sends nothing more`, {
      hint: petstock`history show ${this.run}`,
    });
  }

  #lost(): FailureError {
    this.#isLost = true;
    return new FailureError(
      `${this.#context.database.name} has lost writes that it had confirmed, perhaps by a failover to a server that was behind, or by a restored copy. Nothing more is sent, and the history of run ${this.run} may be incomplete`,
      { hint: 'petstock state info' },
    );
  }
}
