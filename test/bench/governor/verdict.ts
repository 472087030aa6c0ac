/** A request as `wire.js` saw it leave and its answer's head come. Milliseconds of the monotonic clock. */
export interface WireRequest {
  /** Which process sent it. */
  readonly process: number;
  readonly sent: number;
  readonly head?: number;
  readonly status?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly remaining?: number;
}

export interface Verdict {
  readonly requests: number;
  readonly refusals: number;
  /** Requests sent after a 429 had been received, and more than `spread` before its Retry-After was over. */
  readonly inside: number;
  /** The same without allowing for the spread. */
  readonly insideAtAll: number;
  /** The most 429 episodes in one window: a 429 begins another one if its request was sent after an earlier 429 had come. */
  readonly episodes: number;
}

/**
 * The 429s of one burst end one after the other, and a client that keeps each request's own is not blamed for that:
 * milliseconds.
 */
const spread = 50;

/**
 * @param roundTrip what another process than the one that met the 429 is allowed, in milliseconds, to learn of it
 * @param windowOf the number of the window that a moment falls into
 */
export function judge(wire: readonly WireRequest[], roundTrip: number, windowOf: (moment: number) => number): Verdict {
  const refusals = wire.filter(({ status }) => status === 429);
  /** When the sender of a request knew of a 429. */
  const knownAt = (refusal: WireRequest, sender: WireRequest) =>
    (refusal.head ?? 0) + (refusal.process === sender.process ? 0 : roundTrip);
  const endOf = ({ head = 0, retryAfter = 0 }: WireRequest) => head + retryAfter * 1000;
  const isInside = (request: WireRequest, allowed: number) =>
    refusals.some((refusal) => request.sent > knownAt(refusal, request) && request.sent < endOf(refusal) - allowed);
  const insideBut = (allowed: number) => wire.filter((request) => isInside(request, allowed)).length;
  const episodes = new Map<number, number>();
  let begun = 0;
  for (const refusal of [...refusals].sort((a, b) => a.sent - b.sent)) {
    const joins = begun > 0 && refusal.sent <= begun;
    if (joins) {
      begun = Math.min(begun, refusal.head ?? begun);
      continue;
    }
    begun = refusal.head ?? refusal.sent;
    const window = windowOf(refusal.sent);
    episodes.set(window, (episodes.get(window) ?? 0) + 1);
  }
  return {
    requests: wire.length,
    refusals: refusals.length,
    inside: insideBut(spread),
    insideAtAll: insideBut(0),
    episodes: Math.max(0, ...episodes.values()),
  };
}

export interface OptimumInput {
  readonly writes: number;
  /** Requests left in the window that it begins in, and milliseconds until that ends. */
  readonly left: number;
  readonly untilReset: number;
  readonly limit: number;
  readonly windowMs: number;
  readonly roundTrip: number;
  /** Requests at a time, of all processes together. */
  readonly atOnce: number;
}

/** The shortest time in which all writes can be done within the limit, in milliseconds: T* of the design. */
export function optimum(input: OptimumInput): number {
  const { writes, left, untilReset, limit, windowMs, roundTrip, atOnce } = input;
  if (writes <= left) return Math.ceil(writes / atOnce) * roundTrip;
  const windows = Math.ceil((writes - left) / limit);
  const last = writes - left - (windows - 1) * limit;
  return untilReset + (windows - 1) * windowMs + Math.ceil(last / atOnce) * roundTrip;
}
