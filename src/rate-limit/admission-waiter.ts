import { once } from 'node:events';
import type { Deadline } from '../shared/clock.ts';
import { RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { maxGateWait } from './backoff.ts';
import type { GovernorOptions } from './governor.ts';
import { type KeyState, processOf } from './key-state.ts';
import { closesGate } from './observation.ts';
import type { LimitRecord } from './records.ts';
import { type AdmissionRequest, decide, exhaustedDailyQuota } from './rules.ts';

/** After this many 429s in a row, of all processes and those of one burst counted once, no command waits any longer. */
const maxEpisodes = 3;
/** A sleep is cut into slices: a clock may be stepped, and another process may learn something. */
const maxSlice = 15_000;
/** How often to look whether another process has had the answer that we wait for, in milliseconds. */
const poll = { first: 5, longest: 250 };
/** How long the requests of other processes may hold us up before that counts as a wait and is said. */
const announceAfter = 1000;
/** Where others use the key too, they all come when a window ends: we come up to this much later. */
const maxJitter = 1000;

/** The waits of a governor, for what the rules wait for: the end of a window or a gate, or the answers of others. */
export class AdmissionWaiter {
  readonly #options: GovernorOptions;
  readonly #buffer: RecordBuffer;
  /** The requests in flight that are ours. */
  readonly #own: ReadonlySet<string>;
  readonly #beforeWait: () => Promise<void>;
  /** Of all waits that count together, in milliseconds. */
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

  /** To be called for each admission, before its first try. */
  begin(): void {
    if (this.#options.maxWaitFor === 'each') this.#waited = 0;
    this.#isAnnounced = false;
    this.#began = this.#options.clock.monotonic();
  }

  /** To be called when one of our own requests is over. */
  wake(): void {
    this.#wake();
  }

  /**
   * Resolves when another attempt may succeed.
   * @param state what the store said to the last one
   * @throws RateLimitedError, UnavailableError if that is longer than the command may wait, or was in vain too often
   */
  async wait(state: KeyState, wish: AdmissionRequest, signal: AbortSignal): Promise<void> {
    const { clock, limits, scope } = this.#options;
    let current = state;
    for (let pause = poll.first; ; pause = Math.min(pause * 2, poll.longest)) {
      signal.throwIfAborted();
      const decision = decide(current, clock.monotonic(), wish);
      // The store has just refused it, by times that are rounded to its own clock: it is not asked again before one has passed.
      if (decision.admitted && pause === poll.first) await clock.sleep(1, signal);
      if (decision.admitted || !this.#buffer.isEmpty || this.#expireDeadRequests(current)) return;
      const heldUp = decision.retryAt === undefined ? this.#lastForeignLeaseEnd(current) : undefined;
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
      const message = `The service is unavailable. petstock calls it again in ${retryAfterSeconds} s at the earliest`;
      throw new UnavailableError(message, { retryAfterSeconds });
    }
    if (!isDown && (state.episodes >= maxEpisodes || total > maxWait)) {
      const day = exhaustedDailyQuota(state, at, this.#options.bulk);
      throw new RateLimitedError(day === undefined ? 'nothing may be sent now' : dayText(day), {
        retryAfterSeconds,
        day,
      });
    }
    if (!this.#isAnnounced) this.#options.onWait(wait, isDown ? 'unavailable' : 'refused');
    this.#isAnnounced = true;
    await this.#beforeWait();
    // Who is told of a wait may move the clock of a sandbox. Whole milliseconds, so that a rest too small to count can't be waited
    // for again and again.
    const left = wait - (clock.monotonic() - at);
    await clock.sleep(Math.ceil(Math.min(Math.max(left, 1), slice)), signal);
    this.#waited += clock.monotonic() - at;
  }

  /** When others hold us up for longer than goes without a word: the end of the last of their leases. */
  #lastForeignLeaseEnd({ inFlight }: KeyState): number | undefined {
    const at = this.#options.clock.monotonic();
    if (this.#own.size > 0 || at - this.#began < announceAfter) return undefined;
    const leases = [...inFlight.values()].map(({ expires }) => expires).filter((expires) => expires > at);
    return leases.length === 0 ? undefined : Math.max(...leases);
  }

  /** A process that died has its requests in flight until their leases are over, unless it is certain that it is gone. */
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

  /** Resolves when one of our own requests is over, or, if others have some in flight, after the pause at the latest. */
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

/** Ends a wait. A reason of its own, since `abort()` makes an exception with its stack each time. */
const completed = new Error('one of our own requests is over');

function dayText({ limit, left }: { readonly limit: number; readonly left: number }): string {
  if (left === 0) return `today's ${limit.toLocaleString('en-US')} requests are used up`;
  return `only ${left.toLocaleString('en-US')} of today's ${limit.toLocaleString('en-US')} requests ${left === 1 ? 'is' : 'are'} left, reserved for other commands`;
}

/** How long a record may wait for others, in milliseconds, or ten times as long as it takes to write one. */
const minDelay = 100;
const maxDelay = 250;

/**
 * Records on their way to the store, in their order, one transaction at a time. Those that can wait go with the next
 * transaction, or after 100 ms, or more if the store is far away. What can't be written stays here.
 */
export class RecordBuffer {
  readonly #options: Pick<GovernorOptions, 'clock' | 'limits' | 'scope'>;
  /** How many transactions there were. */
  writes = 0;
  readonly #records: LimitRecord[] = [];
  /** How many of them close the gate. */
  #gates = 0;
  #last: Promise<unknown> = Promise.resolve();
  #deadline: Deadline | undefined;
  #delay = minDelay;

  constructor(options: Pick<GovernorOptions, 'clock' | 'limits' | 'scope'>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#records.length === 0;
  }

  /** Whether an answer that closes the gate is not yet in the store. */
  get hasGate(): boolean {
    return this.#gates > 0;
  }

  add(record: LimitRecord): void {
    this.#records.push(record);
    if (closesGate(record)) this.#gates += 1;
    // What fails here fails again, where somebody waits for it.
    this.#deadline ??= this.#options.clock.deadline(this.#delay, () => void this.flush().catch(() => {}));
  }

  /** Writes what is buffered, and these behind it. @returns the state after, which is out of date after the next call */
  fold(records: readonly LimitRecord[]): Promise<KeyState> {
    const turn = this.#last.then(() => this.#write(records));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async flush(): Promise<void> {
    await (this.isEmpty ? this.#last : this.fold([]));
  }

  async #write(more: readonly LimitRecord[]): Promise<KeyState> {
    const { limits, scope, clock } = this.#options;
    const buffered = this.#records.length;
    this.#deadline?.clear();
    this.#deadline = undefined;
    if (buffered + more.length === 0) return limits.peek(scope);
    const began = clock.monotonic();
    const state = await limits.fold(scope, [...this.#records, ...more]);
    this.writes += 1;
    this.#delay = Math.min(Math.max(minDelay, 10 * (clock.monotonic() - began)), maxDelay);
    this.#records.splice(0, buffered);
    this.#gates = this.#records.filter(closesGate).length;
    return state;
  }
}
