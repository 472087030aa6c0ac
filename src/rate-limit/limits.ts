import type { Clock } from '../shared/clock.ts';
import { fileErrorReason, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import type { Moment } from '../state/state-store.ts';
import type { Answer, Statement } from '../state/statements.ts';
import type { GateFile } from './gate-file.ts';
import { tooLongWait } from './headers.ts';
import { copyOf, emptyState, type Gate, type KeyState, laterGate, noGate, type WaitReason } from './key-state.ts';
import {
  type LimitsRow,
  type LimitsStore,
  movedBack,
  newVersion,
  readingOf,
  stateOf,
  versionOf,
  writingOf,
} from './limits-row.ts';
import { type Permit, type PermitCount, PermitExpiredError, type SeenRateLimit } from './permits.ts';
import {
  type AnswerRecord,
  closesGate,
  decide,
  exhaustedDailyQuota,
  fold,
  type LimitRecord,
  recordOf,
} from './rules.ts';
import { maxEpisodes, maxGate, pauses, sleepWithin } from './waits.ts';

export interface LimitsOptions {
  readonly store: LimitsStore;
  readonly gates: GateFile;
  readonly clock: Clock;
  /** The name of the key at its service, by `scopeOf`. */
  readonly scope: string;
  /** The name of the target, for display. */
  readonly target: string;
  /** How long a permit is valid, in milliseconds. */
  readonly permitLifetime: number;
  /** Whether to leave a small part of the limit to interactive commands. */
  readonly isBulk: boolean;
  /** The longest wait for the limit, in milliseconds. */
  readonly maxWait: number;
  /** Whether `maxWait` is for each wait, so that a bulk run may span many windows; otherwise it is for all together. */
  readonly isBoundPerWait: boolean;
  random(): number;
  /** Called once for each wait, with its expected length. */
  onWait(ms: number, reason: WaitReason): void;
  /** Shows a warning, without a period at its end. */
  warn(line: string): void;
}

/** What an admission has decided. `retryAt`: when to try again; undefined if a request in flight has to end first. */
export interface Admission {
  readonly permits: Permit[];
  readonly retryAt: number | undefined;
  readonly writes: readonly Statement[];
}

/**
 * The oldest knowledge of a row elsewhere with which a request may leave, in milliseconds. On this machine the gate file
 * tells of every gate.
 */
const maxAge = 1000;
/** How long requests of others may hold up an admission before that is told, in milliseconds. */
const toldAfter = 1000;

/**
 * The limits of one key: one row of the store, changed in one transaction by the rules of `fold` and `decide`, and the
 * gate file. All times are by the store's clock. After a 429, nothing leaves before the later gate of row and file.
 */
export class Limits {
  readonly #options: LimitsOptions;
  readonly #name = newVersion();
  #count = 0;
  /** The row, as it was last read or written. */
  #row: LimitsRow = { version: '', state: emptyState() };
  /** What the row says now, by a clock that may have been set back, and the gate of the last answer. */
  #state = emptyState();
  /** Whether the row has to be written although nothing has happened, because the clock was set back. */
  #isMoved = false;
  #moment: Moment;
  /** When the store's time was received, by the monotonic clock. */
  #receivedAt: number;
  /** What has happened since the row was written. */
  #records: LimitRecord[] = [];
  /** The last change: the row before it, and what was folded. It may be rolled back. */
  #folded: { readonly before: LimitsRow; readonly records: readonly LimitRecord[] } | undefined;
  /** The latest gate that could be written to no file. */
  #unwritten: Gate = noGate;
  #refreshing: Promise<void> | undefined;
  /** The permits that have not ended. */
  readonly #own = new Set<string>();
  /** The time of all waits, in milliseconds. */
  #waited = 0;
  /** The time for which the current admission has been held up by requests of others, in milliseconds. */
  #heldUp = 0;
  #isTold = false;
  #hasWarned = false;
  #lastSeen: SeenRateLimit | undefined;

  constructor(options: LimitsOptions) {
    this.#options = options;
    const { clock } = options;
    this.#moment = { now: clock.now(), at: clock.monotonic() };
    this.#receivedAt = this.#moment.at;
  }

  /** The rate limit in the last answer to this process that reported one. */
  get lastSeen(): SeenRateLimit | undefined {
    return this.#lastSeen;
  }

  /** What was last read or written, with the gate of the file. */
  get state(): KeyState {
    return this.#withFileGate(this.#state);
  }

  /** The earliest that the store's time can be now: it was on its way for a while. */
  get now(): number {
    return this.#moment.now + this.#options.clock.monotonic() - this.#receivedAt;
  }

  /** Asks for the row, without its state if that is known. */
  get reading(): Statement {
    return readingOf(this.#options.scope, this.#row.version);
  }

  get hasRecords(): boolean {
    return this.#records.length > 0;
  }

  /**
   * Decides within a transaction how many requests may be sent now: at least `min`, or a single probe, or none.
   * @param row the answer to `reading`
   */
  admit(row: Answer | undefined, moment: Moment, { min, max }: PermitCount): Admission {
    const { permitLifetime, isBulk: bulk } = this.#options;
    this.#take(row, moment);
    const ids = Array.from({ length: max }, () => `${this.#name}-${++this.#count}`);
    const at = moment.now;
    const before = this.#withRecords();
    const wish = { bulk, minPermits: min };
    const decision = decide(before, at, wish);
    // An attempt in vain changes nothing.
    if (!decision.admitted) return { permits: [], retryAt: decision.retryAt, writes: this.#write(before, moment) };
    const state = copyOf(before);
    fold(state, { type: 'intent', ids, at, expires: at + permitLifetime, ...wish });
    const writes = this.#write(state, moment, true);
    const permits = ids.filter((id) => state.inFlight.has(id)).map((id) => this.#permit(id));
    this.#heldUp = 0;
    this.#isTold = false;
    return { permits, writes, retryAt: undefined };
  }

  /** Folds what has happened into the row within a transaction. */
  record(row: Answer | undefined, moment: Moment): readonly Statement[] {
    this.#take(row, moment);
    return this.#write(this.#withRecords(), moment);
  }

  /** The file's gate comes last: it may be that of a record, which would then seem to be of an earlier episode. */
  #withRecords(): KeyState {
    const state = { ...copyOf(this.#state), target: this.#options.target };
    for (const each of this.#records) fold(state, each);
    return this.#withFileGate(state);
  }

  /** @param isChanged whether the state has more than the records */
  #write(state: KeyState, { now }: Moment, isChanged = false): readonly Statement[] {
    if (this.#records.length === 0 && !this.#isMoved && !isChanged) return [];
    this.#folded = { before: this.#row, records: this.#records };
    this.#records = [];
    this.#isMoved = false;
    this.#row = { version: newVersion(), state };
    this.#state = state;
    return [writingOf(this.#options.scope, this.#row.version, now, state)];
  }

  /** Writes what has happened. @param isDurable whether it must outlive a power cut */
  async save(isDurable = false): Promise<void> {
    if (!this.hasRecords) return;
    try {
      await this.#options.store.transact(
        [this.reading],
        ([rows], moment) => ({ writes: this.record(rows?.[0], moment), result: undefined }),
        isDurable,
      );
    } catch (error) {
      this.#restore();
      throw error;
    }
  }

  /** Takes the last change back, which was not written. */
  #restore(): void {
    if (this.#folded === undefined) return;
    this.#row = this.#folded.before;
    this.#records = [...this.#folded.records, ...this.#records];
    this.#folded = undefined;
  }

  /** Reads the row again, unless that was done a moment ago. Call this before each request. */
  async refresh(): Promise<void> {
    const { clock, store } = this.#options;
    if (clock.monotonic() - this.#moment.at < store.isFreshFor) return;
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async #read(): Promise<void> {
    const { answers, moment } = await this.#options.store.ask([this.reading]);
    this.#take(answers[0]?.[0], moment);
  }

  /**
   * Admits one request that belongs to no turn; waits until that is possible.
   * @throws RateLimitedError or UnavailableError if that takes longer than the command may wait; the signal's reason
   */
  async admitOne(signal: AbortSignal): Promise<Permit> {
    for (;;) {
      signal.throwIfAborted();
      const { permits, retryAt } = await this.#options.store
        .transact([this.reading], ([rows], moment) => {
          const admission = this.admit(rows?.[0], moment, { min: 1, max: 1 });
          return { writes: admission.writes, result: admission };
        })
        .catch((error) => {
          this.requireGatePasses();
          throw error;
        });
      const [permit] = permits;
      if (permit !== undefined) return this.#savingAtOnce(permit);
      await this.wait(retryAt, signal);
    }
  }

  /** Others may wait for the answer of a request outside of a turn, so what becomes of it is written at once. */
  #savingAtOnce({ recordResponse, forfeit, release, ...permit }: Permit): Permit {
    const save = () => this.save().catch(() => {});
    return {
      ...permit,
      recordResponse: (answer, isWrite) => {
        const { retryAfter, persisted } = recordResponse(answer, isWrite);
        return { retryAfter, persisted: persisted.then(save) };
      },
      forfeit: () => forfeit().then(save),
      release: () => release().then(save),
    };
  }

  /**
   * Waits until another attempt may succeed. Hold nothing meanwhile.
   * @param retryAt of the last attempt
   * @throws RateLimitedError or UnavailableError if the command may not wait that long, or after too many 429s in a
   * row; the signal's reason
   */
  async wait(retryAt: number | undefined, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    if (retryAt === undefined) return this.#waitForOthers(signal);
    const jitter = this.#state.foreignRate > 0 ? this.#options.random() * pauses.beside : 0;
    const ms = Math.max(1, Math.ceil(retryAt - this.now + jitter));
    this.#requireWait(ms, retryAt);
    if (!this.#isTold) this.#announce(ms, this.#isDown(retryAt) ? 'unavailable' : 'refused');
    await clock.sleep(Math.ceil(sleepWithin(ms)), signal);
    this.#waited += clock.monotonic() - began;
  }

  /** Each pause is as long as the ones before together. Only requests of other processes count as a wait. */
  async #waitForOthers(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const pause = Math.min(Math.max(pauses.inFlight.first, this.#heldUp), pauses.inFlight.longest);
    if (this.#heldUp > toldAfter && this.#own.size === 0) {
      const longest = this.#lastExpiry() - this.now;
      if (this.#isTooLong(pause)) throw new RateLimitedError(heldUpText(longest), heldUp);
      if (!this.#isTold) this.#announce(longest, 'pending');
      this.#waited += pause;
    }
    await clock.sleep(pause, signal);
    this.#heldUp += pause;
  }

  #announce(ms: number, reason: WaitReason): void {
    this.#isTold = true;
    this.#options.onWait(Math.max(0, ms), reason);
  }

  /** When the last of the requests of others in flight is certainly over. */
  #lastExpiry(): number {
    return Math.max(this.now, ...[...this.#state.inFlight.values()].map(({ expires }) => expires));
  }

  /** Whether the wait is for a gate that a 5xx asked for. */
  #isDown(retryAt: number): boolean {
    const { gate } = this.state;
    return gate.reason === 'unavailable' && this.now < gate.at && retryAt <= gate.at;
  }

  /**
   * Call this where the state fails, because an answer may have closed the gate before.
   * @throws RateLimitedError or UnavailableError if the gate lifts later than the command may wait
   */
  requireGatePasses(): void {
    const { at } = this.state.gate;
    if (at > this.now) this.#requireWait(at - this.now, at);
  }

  /** Whether the command may not wait this much longer, in milliseconds. */
  #isTooLong(ms: number): boolean {
    const { maxWait, isBoundPerWait } = this.#options;
    return ms + (isBoundPerWait ? 0 : this.#waited) > maxWait;
  }

  #requireWait(ms: number, retryAt: number): void {
    const retryAfterSeconds = Math.ceil(ms / 1000);
    const isTooLong = this.#isTooLong(ms);
    if (this.#isDown(retryAt)) {
      if (!isTooLong) return;
      throw new UnavailableError('The service is unavailable', { retryAfterSeconds, notCarriedOut: true });
    }
    if (!isTooLong && this.#state.episodes < maxEpisodes) return;
    const day = exhaustedDailyQuota(this.#state, this.now, this.#options.isBulk);
    const message = day === undefined ? 'No request is allowed now' : dayText(day);
    throw new RateLimitedError(message, { retryAfterSeconds, day, notCarriedOut: true });
  }

  /** Takes over what was read in this moment: the row, or only its version if the state is known. */
  #take(row: Answer | undefined, moment: Moment): void {
    this.#moment = moment;
    this.#receivedAt = this.#options.clock.monotonic();
    const version = versionOf(row);
    if (this.#folded?.before.version === version) this.#restore();
    this.#folded = undefined;
    this.#row = { version, state: stateOf(row) ?? this.#row.state };
    this.#state = movedBack(this.#row.state, row, moment);
    this.#isMoved = this.#state !== this.#row.state;
  }

  /** Returns the state with the later gate: its own, or that of the file. */
  #withFileGate(state: KeyState): KeyState {
    const { gates, scope, clock } = this.#options;
    const gate = gates.gate(scope);
    const ofFile = gate === noGate ? noGate : { ...gate, at: gate.at - clock.now() + this.now };
    const latest = laterGate(laterGate(state.gate, ofFile), this.#unwritten);
    return latest === state.gate ? state : { ...state, gate: latest, halfOpen: true };
  }

  #permit(id: string): Permit {
    let leftAt: number | undefined;
    this.#own.add(id);
    const end = async (record: LimitRecord) => {
      this.#own.delete(id);
      this.#records.push(record);
    };
    return {
      beginSend: () => {
        const at = this.now;
        const { store, clock } = this.#options;
        const isFresh = store.isFreshFor === 0 || clock.monotonic() - this.#moment.at < maxAge;
        const { gate, halfOpen, inFlight } = this.state;
        const { expires, probe } = inFlight.get(id) ?? { expires: 0, probe: false };
        // A gate that has closed since the admission may have passed already, if the clock was set forward.
        const isOutdated = halfOpen && !probe;
        if (!isFresh || at < gate.at || at >= expires || isOutdated) throw new PermitExpiredError();
        leftAt = at;
      },
      recordResponse: (answer, isWrite = false) => {
        // The latest that it can be now, so that no wait is too short.
        const at = this.now + this.#receivedAt - this.#moment.at;
        const random = this.#options.random();
        const record = recordOf(answer, { id, at, leftAt, isWrite, state: this.#state, random });
        void end(record);
        this.#note(record);
        const retryAfter = record.retryAfter === undefined ? undefined : Math.min(record.retryAfter, maxGate);
        // A record that can't be written stays; the gate is in the file.
        return { retryAfter, persisted: closesGate(record) ? this.#close(record) : Promise.resolve() };
      },
      forfeit: () => end({ type: 'lost', id }),
      release: () => end({ type: 'unsent', id }),
    };
  }

  /** Writes the gate that an answer has closed: to the file before anything else happens, then to the row. */
  #close(record: AnswerRecord): Promise<void> {
    const { gates, scope, clock, warn } = this.#options;
    const state = copyOf(this.#state);
    fold(state, record);
    const { gate } = state;
    this.#state = { ...this.#state, gate, halfOpen: true };
    const problem = gates.write(scope, { ...gate, at: gate.at - this.now + clock.now() });
    if (problem !== undefined) this.#unwritten = laterGate(this.#unwritten, gate);
    return this.save(true).catch(() => {
      if (problem === undefined) return;
      const seconds = Math.ceil((gate.at - this.now) / 1000);
      warn(
        `The service asked for a wait of ${seconds} s, but it can't be saved: ${fileErrorReason(problem)}. Start no other command with this key until it has passed`,
      );
    });
  }

  #note(record: AnswerRecord): void {
    const { at, date, limit, remaining, reset, retryAfter = 0 } = record;
    const warning = tooLongWait(retryAfter);
    if (warning !== undefined && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#options.warn(warning);
    }
    if (limit === undefined || remaining === undefined || reset === undefined) return;
    // The service's own clock counts, if it is known, because the local one may be wrong.
    const resetAt = at + Math.max(0, reset - (date ?? at));
    this.#lastSeen = { limit, remaining, reset, resetAt, asOf: at };
  }
}

/** When the requests of others are answered is not known, so no time is promised. */
const heldUp = { hint: 'petstock state info', notCarriedOut: true };

function heldUpText(longest: number): string {
  const seconds = Math.ceil(longest / 1000);
  return `Requests of other commands with this key have no answer yet. That may take up to ${seconds} s`;
}

function dayText({ limit, left }: { readonly limit: number; readonly left: number }): string {
  if (left === 0 && limit === 1) return "Today's only request is used up";
  if (left === 0) return `Today's ${limit.toLocaleString('en-US')} requests are used up`;
  return `Only ${left.toLocaleString('en-US')} of today's ${limit.toLocaleString('en-US')} requests ${left === 1 ? 'is' : 'are'} left, reserved for other commands`;
}
