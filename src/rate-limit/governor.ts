import { randomBytes } from 'node:crypto';
import { AdmissionWaiter } from './admission-waiter.ts';
import type { GovernorOptions } from './governor-options.ts';
import { isSameBoot, type KeyState, maxGateMs, ownerOf, serviceTime } from './key-state.ts';
import type { EndRecord, LimitRecord, ResponseRecord } from './limit-records.ts';
import { closesGate, parseDate, recordOf, seenIn } from './observation.ts';
import {
  type Permit,
  type PermitCount,
  PermitExpiredError,
  type Permits,
  type ResponseHead,
  type SeenRateLimit,
} from './permits.ts';
import { RecordBuffer } from './record-buffer.ts';
import type { AdmissionRequest } from './rules.ts';

const day = 86_400_000;

/**
 * The rate limiter. Admits every request to the service, including retries and redirects, and records the responses.
 * Requests are admitted in the order of the calls. Several governors in one process treat each other like governors of
 * different processes.
 */
export class Governor {
  readonly #options: GovernorOptions;
  readonly #buffer: RecordBuffer;
  readonly #waiter: AdmissionWaiter;
  readonly #wish: Omit<AdmissionRequest, 'minPermits'>;
  /** A name that no other governor has. */
  readonly #name = randomBytes(8).toString('base64url');
  readonly #own = new Set<string>();
  #line: Promise<unknown> = Promise.resolve();
  /** Callbacks that release what the queued callers hold. */
  readonly #held = new Set<() => Promise<void>>();
  #isWaiting = false;
  /** The boot id after the last attempt to take permits; '' before the first. */
  #boot = '';
  #idCount = 0;
  #hasWarned = false;
  /** The last response with rate limit headers. */
  #lastLimits: ResponseRecord | undefined;

  constructor(options: GovernorOptions) {
    this.#options = options;
    this.#buffer = new RecordBuffer(options);
    this.#waiter = new AdmissionWaiter(options, this.#buffer, this.#own, () => this.#beginWait());
    this.#wish = { bulk: options.bulk ?? false, ...(options.exclusive && { exclusive: true }) };
  }

  /** The rate limit in the last response that reported one to this governor; undefined before that. */
  get lastSeen(): SeenRateLimit | undefined {
    return this.#lastLimits && seenIn(this.#lastLimits);
  }

  /**
   * Resolves when one request may be sent.
   * @throws RateLimitedError or UnavailableError if that takes longer than the command may wait, or after too many 429s
   * in a row
   * @throws UnavailableError or FailureError if the limits can't be read or written
   * @throws the signal's reason once it is aborted
   */
  async admit(signal: AbortSignal): Promise<Permit> {
    const [permit] = await this.admitSeveral({ min: 1, max: 1 }, signal);
    return permit;
  }

  /**
   * Like `admit`, for several requests in one transaction: at least `min`, at most `max`. Returns a single permit if
   * only a probe may be sent (nothing is known, a window has ended, or a gate has lifted), or if a limit never allows
   * `min`.
   */
  admitSeveral(want: PermitCount, signal: AbortSignal): Promise<Permits> {
    const turn = this.#line.then(() => this.#admitNext(want, signal));
    this.#line = turn.catch(() => {});
    return want.beforeWait === undefined ? turn : this.#holding(want.beforeWait, turn);
  }

  /** Releases what the caller holds as soon as any queued caller waits for the limit. */
  async #holding(giveBack: () => Promise<void>, turn: Promise<Permits>): Promise<Permits> {
    this.#held.add(giveBack);
    try {
      if (this.#isWaiting) await giveBack();
      return await turn;
    } finally {
      this.#held.delete(giveBack);
    }
  }

  /**
   * Writes the buffered records, and waits for pending writes.
   * @throws UnavailableError or FailureError if the limits can't be read or written
   */
  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  async #admitNext(want: PermitCount, signal: AbortSignal): Promise<Permits> {
    this.#waiter.begin();
    for (;;) {
      signal.throwIfAborted();
      const { permits, state } = await this.#claim(want);
      const [first, ...others] = permits;
      if (first !== undefined) return [first, ...others];
      try {
        await this.#waiter.wait(state, { ...this.#wish, minPermits: want.min }, signal);
      } finally {
        this.#isWaiting = false;
      }
    }
  }

  async #beginWait(): Promise<void> {
    this.#isWaiting = true;
    for (const giveBack of this.#held) await giveBack();
  }

  /** Takes up to `max` permits in one transaction: as many as may be granted now, perhaps none. */
  async #claim({ min, max }: PermitCount): Promise<{ readonly permits: readonly Permit[]; readonly state: KeyState }> {
    const { clock, permitLifetime, env, self } = this.#options;
    const [at, boot] = [clock.monotonic(), clock.boot()];
    const ids = Array.from({ length: max }, () => this.#nextId());
    const records: LimitRecord[] = [
      { type: 'intent', ids, minPermits: min, by: ownerOf(self), at, expires: at + permitLifetime, ...this.#wish },
    ];
    if (!isSameBoot(this.#boot, boot)) records.unshift({ type: 'start', boot, env, at, wall: clock.now() });
    const state = await this.#buffer.fold(records);
    this.#boot = state.boot;
    const granted = ids.filter((id) => state.inFlight.has(id));
    for (const id of granted) this.#own.add(id);
    return { permits: granted.map((id) => this.#permit(id)), state };
  }

  #nextId(): string {
    this.#idCount += 1;
    return `${this.#name}-${this.#idCount}`;
  }

  #permit(id: string): Permit {
    const { clock } = this.#options;
    let leftAt: number | undefined;
    return {
      beginSend: () => {
        this.#requireValid(id);
        leftAt = clock.monotonic();
      },
      recordResponse: (answer) => {
        const record = this.#observe(answer, id, leftAt);
        const persisted = this.#end(record);
        this.#tell(record);
        const { retryAfter } = record;
        return { retryAfter: retryAfter === undefined ? undefined : Math.min(retryAfter, maxGateMs), persisted };
      },
      forfeit: () => this.#end({ type: 'lost', id }),
      release: () => this.#end({ type: 'unsent', id }),
    };
  }

  #requireValid(id: string): void {
    const { clock, limits, scope } = this.#options;
    const { inFlight, gate } = limits.peek(scope);
    const at = clock.monotonic();
    const request = inFlight.get(id);
    const isOver = request === undefined || at >= request.expires || at < gate.at || this.#buffer.hasGate;
    if (isOver) throw new PermitExpiredError();
  }

  /** @param leftAt when the request was sent, by the monotonic clock */
  #observe(answer: ResponseHead, id: string, leftAt: number | undefined): ResponseRecord {
    const { clock, limits, scope, random } = this.#options;
    const [at, wall] = [clock.monotonic(), clock.now()];
    const known = () => {
      try {
        const state = limits.peek(scope);
        return state.offset?.guessed === false ? serviceTime(state, at) : undefined;
      } catch {
        return undefined;
      }
    };
    const receipt = { id, at, wall, date: parseDate(answer.headers, wall), leftAt, serviceTime: known };
    return recordOf(answer, receipt, random);
  }

  /** Notifies listeners. Call this once the record is buffered, so that a listener's error can't lose a gate. */
  #tell(record: ResponseRecord): void {
    if (closesGate(record)) this.#checkBelievable(record);
    if (record.limit === undefined) return;
    this.#lastLimits = record;
    const seen = this.#options.onLimit && this.lastSeen;
    if (seen !== undefined) this.#options.onLimit?.(seen);
  }

  #checkBelievable({ retryAfter = 0 }: ResponseRecord): void {
    if (retryAfter <= maxGateMs || this.#hasWarned) return;
    this.#hasWarned = true;
    const days = Math.ceil(retryAfter / day);
    const asked = days > 365 ? 'more than a year' : `${days} days`;
    const line = `The service asked for a wait of ${asked}. petstock waits at most ${maxGateMs / day} days`;
    this.#options.onUnbelievable?.(line);
  }

  /** Buffers a record. Writes the buffer at once if it has a gate, or if no request of the governor is in flight. */
  async #end(record: ResponseRecord | EndRecord): Promise<void> {
    this.#buffer.add(record);
    this.#own.delete(record.id);
    this.#waiter.wake();
    // Records that can't be written stay buffered. The next admission writes them or fails.
    if (this.#own.size === 0 || this.#buffer.hasGate) await this.#buffer.flush().catch(() => {});
  }
}
