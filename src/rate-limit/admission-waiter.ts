import { once } from 'node:events';
import { RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { maxGateWait } from './backoff.ts';
import type { GovernorOptions } from './governor-options.ts';
import { type KeyState, processOf } from './key-state.ts';
import type { RecordBuffer } from './record-buffer.ts';
import { type AdmissionRequest, decide, exhaustedDailyQuota } from './rules.ts';

/**
 * After this many consecutive 429s (of all processes; a burst counts once), no command waits for the rate limit any
 * longer.
 */
const maxEpisodes = 3;
/**
 * Maximum length of one sleep in milliseconds. Longer waits are split, because another process may meanwhile receive a
 * response that changes the wait.
 */
const maxSlice = 15_000;
/**
 * Pauses between checks whether another process has received the awaited response, in milliseconds: the first, and the
 * longest. Each is twice as long as the one before.
 */
const poll = { first: 5, longest: 250 };
/** How long requests of other processes may block an admission before the wait is announced, in milliseconds. */
const announceAfter = 1000;
/** Maximum random delay after a wait, in milliseconds, if other users of the key may continue at the same time. */
const maxJitter = 1000;

/** The waits of a governor: for the end of a window or a gate, or for the end of requests in flight. */
export class AdmissionWaiter {
  readonly #options: GovernorOptions;
  readonly #buffer: RecordBuffer;
  /** The ids of the governor's requests in flight. */
  readonly #own: ReadonlySet<string>;
  readonly #beforeWait: () => Promise<void>;
  /** Total of the waits that count towards `maxWait` so far, in milliseconds. */
  #waited = 0;
  #began = 0;
  #isAnnounced = false;
  #wake: () => void = () => {};

  constructor(
    options: GovernorOptions,
    buffer: RecordBuffer,
    own: ReadonlySet<string>,
    beforeWait: () => Promise<void>,
  ) {
    this.#options = options;
    this.#buffer = buffer;
    this.#own = own;
    this.#beforeWait = beforeWait;
  }

  /** Call this for each admission, before its first attempt. */
  begin(): void {
    if (this.#options.maxWaitFor === 'each') this.#waited = 0;
    this.#isAnnounced = false;
    this.#began = this.#options.clock.monotonic();
  }

  /** Call this when one of the governor's requests has ended. */
  wake(): void {
    this.#wake();
  }

  /**
   * Resolves when another attempt may succeed.
   * @param state the result of the last attempt
   * @throws RateLimitedError or UnavailableError if the command may not wait that long, or after too many 429s in a
   * row; the errors of `KeyLimits.read`; the signal's reason once it is aborted
   */
  async wait(state: KeyState, wish: AdmissionRequest, signal: AbortSignal): Promise<void> {
    const { clock, limits, scope } = this.#options;
    let current = state;
    for (let pause = poll.first; ; pause = Math.min(pause * 2, poll.longest)) {
      signal.throwIfAborted();
      const decision = decide(current, clock.monotonic(), wish);
      // The last attempt admitted nothing, although a request may be sent by now: a shared state rounds times to its
      // own clock. Try again 1 ms later.
      if (decision.admitted && pause === poll.first) await clock.sleep(1, signal);
      if (decision.admitted || !this.#buffer.isEmpty || this.#expireDeadRequests(current)) return;
      const heldUp = decision.retryAt === undefined ? this.#lastForeignExpiry(current) : undefined;
      if (decision.retryAt !== undefined) await this.#waitUntil(decision.retryAt, maxSlice, current, signal);
      else if (heldUp !== undefined) await this.#waitUntil(heldUp, poll.longest, current, signal);
      else await this.#waitForCompletion(pause, current, signal);
      current = (await limits.read?.(scope)) ?? limits.peek(scope);
    }
  }

  async #waitUntil(until: number, slice: number, state: KeyState, signal: AbortSignal): Promise<void> {
    const { clock, random, maxWait, maxWaitFor } = this.#options;
    const at = clock.monotonic();
    const wait = until - at + (state.foreignRate > 0 ? random() * maxJitter : 0);
    const total = maxWaitFor === 'wait' ? wait : this.#waited + wait;
    const retryAfterSeconds = Math.ceil(wait / 1000);
    const isDown = at < state.gate.at && until <= state.gate.at && state.gate.reason === 'unavailable';
    if (isDown && (total > maxWait || wait > maxGateWait)) {
      const message = `The service is unavailable. Requests are possible again in ${retryAfterSeconds} s`;
      throw new UnavailableError(message, { retryAfterSeconds });
    }
    if (!isDown && (state.episodes >= maxEpisodes || total > maxWait)) {
      const day = exhaustedDailyQuota(state, at, this.#options.bulk);
      throw new RateLimitedError(day === undefined ? 'No request is allowed now' : dayText(day), {
        retryAfterSeconds,
        day,
      });
    }
    if (!this.#isAnnounced) this.#options.onWait(wait, isDown ? 'unavailable' : 'refused');
    this.#isAnnounced = true;
    await this.#beforeWait();
    // The wait is shown first, because a user who sees it may advance the clock of a sandbox. The sleep is rounded up
    // to whole milliseconds, because a remainder too small to measure could be waited for forever.
    const left = wait - (clock.monotonic() - at);
    await clock.sleep(Math.ceil(Math.min(Math.max(left, 1), slice)), signal);
    this.#waited += clock.monotonic() - at;
  }

  /**
   * Returns when the last permit of another process expires; undefined if there is none, if the governor itself has a
   * request in flight, or if the admission began less than `announceAfter` ago.
   */
  #lastForeignExpiry({ inFlight }: KeyState): number | undefined {
    const at = this.#options.clock.monotonic();
    if (this.#own.size > 0 || at - this.#began < announceAfter) return undefined;
    const expiries = [...inFlight.values()].map(({ expires }) => expires).filter((expires) => expires > at);
    return expiries.length === 0 ? undefined : Math.max(...expiries);
  }

  /**
   * Marks the requests of processes that are certainly gone as lost. Requests of other dead processes stay in flight
   * until their permits expire.
   * @returns whether the buffer has records to write
   */
  #expireDeadRequests({ inFlight }: KeyState): boolean {
    const { isGone } = this.#options;
    if (isGone === undefined) return false;
    const gone = new Map<string, boolean>();
    for (const [id, { by }] of inFlight) {
      const process = gone.has(by) ? undefined : processOf(by);
      if (process) gone.set(by, isGone(process));
      if (gone.get(by)) this.#buffer.add({ type: 'lost', id });
    }
    return !this.#buffer.isEmpty;
  }

  /**
   * Resolves when one of the governor's requests has ended, when the signal is aborted, or after `pause` milliseconds
   * if other processes have requests in flight.
   */
  async #waitForCompletion(pause: number, { inFlight }: KeyState, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort(completed);
    this.#wake = end;
    signal.addEventListener('abort', end, { once: true });
    const others = [...inFlight.keys()].some((id) => !this.#own.has(id));
    const { clock } = this.#options;
    await (others ? clock.sleep(pause, ended.signal).catch(() => {}) : once(ended.signal, 'abort'));
    signal.removeEventListener('abort', end);
  }
}

/**
 * The reason that ends a wait. It is shared, because `abort()` without a reason creates an error with a stack each
 * time.
 */
const completed = new Error('a request of this governor has ended');

function dayText({ limit, left }: { readonly limit: number; readonly left: number }): string {
  if (left === 0 && limit === 1) return "Today's only request is used up";
  if (left === 0) return `Today's ${limit.toLocaleString('en-US')} requests are used up`;
  return `Only ${left.toLocaleString('en-US')} of today's ${limit.toLocaleString('en-US')} requests ${left === 1 ? 'is' : 'are'} left, reserved for other commands`;
}
