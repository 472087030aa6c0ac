import type { Clock } from '../shared/clock.ts';
import type { ProcessIdentity } from '../shared/processes.ts';
import type { WaitReason } from './key-state.ts';
import type { LimitsStore } from './limits-store.ts';

/** Header names in lower case; a header that came more than once is an array. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The three X-RateLimit headers of one answer. */
export interface RateLimit {
  readonly limit: number;
  /** Requests left in the current window. */
  readonly remaining: number;
  /** When the window ends: milliseconds since the Unix epoch, by the service's clock. */
  readonly reset: number;
}

export interface PermitCount {
  /** 2: a read and the write that relies on it, with no wait between them. */
  readonly min: 1 | 2;
  /** Not less than `min`. */
  readonly max: number;
  /** Called before the limit is waited for, maybe more than once: gives back what others would wait for meanwhile. Never rejects. */
  beforeWait?(): Promise<void>;
}

/**
 * Permission to send one request. Call exactly one of `recordResponse`, `forfeit` and `release`, once. None of them rejects: a
 * record that can't be written stays buffered, and the next admission or `flush` fails instead.
 */
export interface Permit {
  /**
   * Called when the request is about to leave: the process may have been stopped since it was admitted, or the
   * connection may have taken its time. Never waits.
   * @throws PermitExpiredError if the permit holds no longer
   */
  beginSend(): void;
  /**
   * The head of an answer came. After a 429, or a 502, 503 or 504 with Retry-After, the next `admit` waits. Nothing leaves this process
   * from this call on, and no other process once the store has it: after the transaction under way, if any, and its own.
   */
  recordResponse(answer: ResponseHead): ObservationResult;
  /** No answer came. Whether the service counted the request is unknown. */
  forfeit(): Promise<void>;
  /** It was not sent. */
  release(): Promise<void>;
}

/** Gives back permits that are not used after all, and takes them out of the list. */
export async function releaseAll(permits: Permit[]): Promise<void> {
  for (const permit of permits.splice(0)) await permit.release();
}

/** Returns a handler of a failure: gives back permits that were not used, and throws it again. */
export function releaseAndRethrow(permits: readonly Permit[]): (error: unknown) => Promise<never> {
  return async (error) => {
    for (const permit of permits) await permit.release();
    throw error;
  };
}

/** What became of an answer. */
export interface ObservationResult {
  /** The wait that it asks for, in milliseconds, as far as that is believed; undefined if it asks for none. */
  readonly retryAfter: number | undefined;
  /** Resolves once others know of it, or can't be told. Never rejects. */
  readonly persisted: Promise<void>;
}

export type Permits = readonly [Permit, ...Permit[]];

/**
 * The permit expired before the request was sent: a gate closed, or the permit's time ran out. Admit the request again.
 */
export class PermitExpiredError extends Error {
  override readonly name = 'PermitExpiredError';
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: Headers;
}

/** Times are milliseconds since the Unix epoch, by the local wall clock. */
export interface SeenRateLimit extends Pick<RateLimit, 'limit' | 'remaining'> {
  /** When its window ends: as long after the answer as the service's own clock says. */
  readonly resetAt: number;
  /** When the answer came. */
  readonly asOf: number;
}

export interface GovernorOptions {
  readonly clock: Clock;
  readonly limits: LimitsStore;
  /** The key at its service, by `scopeOf`. */
  readonly scope: string;
  /** Under which name the limits are remembered, if the key was not used since the machine started. */
  readonly env: string;
  /** The longest wait for the rate limit, in milliseconds. */
  readonly maxWait: number;
  /**
   * Whether that is for all requests together (the default); for each, as a program that runs for weeks wants it; or for
   * one wait, so that a bulk run goes on through as many windows as it needs, if none of them is longer.
   */
  readonly maxWaitFor?: 'all' | 'each' | 'wait';
  /** How long a request may take, in milliseconds: from then on its process is taken for dead. */
  readonly lease: number;
  /** Leaves a small part of the limit to people. */
  readonly bulk?: boolean;
  /** One request at a time, of all processes that share the store: others use the key, and this store does not know of them. */
  readonly exclusive?: boolean;
  readonly self: ProcessIdentity;
  /** As of `Processes`; without it, a process that died is noticed when the leases of its requests are over. */
  isGone?(process: ProcessIdentity): boolean;
  random(): number;
  /** Called before each wait, with its length in milliseconds. */
  onWait(ms: number, reason: WaitReason): void;
  /** Called once, with a line for people, when the service asks for a wait that makes no sense. */
  onUnbelievable?(line: string): void;
  /** Called after each answer that carried its limits. */
  onLimit?(seen: SeenRateLimit): void;
}

/** A shared look that is older, in milliseconds, is repeated: the process may have been stopped since. */
const maxTickAge = 1;

/**
 * Returns a look that all who ask in one turn of the event loop share, for what is asked right before a request leaves. Requests of one turn
 * leave one behind the other, and nothing is waited for in between: what another process writes down within that millisecond, it writes while
 * the first of them is on its way, and a look for each could miss it as well.
 * @param written counts what this process has written there: it looks again after that
 * @param maxAge milliseconds for which turns that follow share it as well
 */
export function memoizePerTick<T>(
  clock: Pick<Clock, 'monotonic' | 'turn'>,
  look: () => T,
  { written = () => 0, maxAge = 0 }: { written?: () => number; maxAge?: number } = {},
): () => T {
  let last: { readonly turn: object; readonly at: number; readonly writes: number; readonly seen: T } | undefined;
  return () => {
    const [turn, at, writes] = [clock.turn?.(), clock.monotonic(), written()];
    if (last?.writes === writes) {
      const age = at - last.at;
      if (age < maxAge || (last.turn === turn && age <= maxTickAge)) return last.seen;
    }
    const seen = look();
    last = turn && { turn, at, writes, seen };
    return seen;
  };
}
