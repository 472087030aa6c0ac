import type { Clock } from '../context.ts';
import { RateLimitedError } from '../errors.ts';
import { waitAfterRefusal } from './backoff.ts';
import type { Governor, ObservedAnswer, Permit, SeenRateLimit } from './governor.ts';
import { parseDate, parseRateLimit, parseRetryAfter } from './headers.ts';
import type { LimitsMemory } from './memory.ts';

export interface GovernorOptions {
  readonly clock: Clock;
  readonly memory: LimitsMemory;
  /** Under which name the limits are remembered. */
  readonly env: string;
  /** The longest total wait of this process, in milliseconds. */
  readonly maxWait: number;
  random(): number;
  /** Told before each wait, with its length in milliseconds. */
  onWait(ms: number): void;
}

/** After this many 429s in a row, each met by the first request after the wait, the command gives up. */
const maxEpisodes = 3;
/** A sleep is cut into slices, since a clock may be stepped and a timer overflows after 24 days. */
const longestSlice = 15_000;

/**
 * Waits behind the gate that a 429 raised, and for the end of a window that has nothing left. The gate is kept in the
 * memory, so a later command waits behind it as well.
 */
export function createGovernor(options: GovernorOptions): Governor {
  const { clock, memory } = options;
  let inFlight = 0n;
  let waiting = 0;
  let waitingSince = 0;
  let waited = 0;
  let episodes = 0;
  let gateLifts = Number.NEGATIVE_INFINITY;
  let lastSeen: SeenRateLimit | undefined;

  const admit = async (signal: AbortSignal): Promise<Permit> => {
    signal.throwIfAborted();
    let announced = false;
    for (let wait = untilAdmitted(); wait > 0; wait = untilAdmitted()) {
      if (waitedSoFar() + wait > options.maxWait || episodes >= maxEpisodes) throw tooLong(wait);
      if (!announced) options.onWait(wait);
      announced = true;
      await sleep(Math.min(wait, longestSlice), signal);
    }
    inFlight += 1n;
    return permit(clock.monotonic());
  };

  /** A time counts once, however many requests wait through it together. */
  const waitedSoFar = (): number => waited + (waiting > 0 ? clock.monotonic() - waitingSince : 0);

  const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (waiting === 0) waitingSince = clock.monotonic();
    waiting += 1;
    try {
      await clock.sleep(ms, signal);
    } finally {
      waiting -= 1;
      if (waiting === 0) waited += clock.monotonic() - waitingSince;
    }
  };

  /** Milliseconds until the next request may leave; 0 for now. */
  const untilAdmitted = (): number => {
    const now = clock.now();
    const behindGate = Math.max(memory.gate() - now, gateLifts - clock.monotonic());
    const known = memory.limits();
    const spent = known !== undefined && known.resetAt > now && known.remaining - inFlight < 1n;
    return Math.max(0, behindGate, spent ? known.resetAt - now : 0);
  };

  const permit = (sentAt: number): Permit => ({
    answered: (answer) => {
      inFlight -= 1n;
      see(answer);
      if (answer.status === 429) refuse(answer, sentAt);
      else if (sentAt >= gateLifts) episodes = 0;
    },
    lost: () => {
      inFlight -= 1n;
    },
  });

  const see = ({ headers }: ObservedAnswer): void => {
    const rateLimit = parseRateLimit(headers);
    if (rateLimit === undefined) return;
    const asOf = clock.now();
    // By the service's own clock where it tells it, since the local one may be wrong.
    const resetIn = Math.max(0, rateLimit.reset * 1000 - (parseDate(headers, asOf) ?? asOf));
    lastSeen = { ...rateLimit, resetIn, asOf };
    const { limit, remaining } = rateLimit;
    memory.rememberLimits({ env: options.env, limit, remaining, resetAt: asOf + resetIn, asOf });
  };

  const refuse = ({ headers }: ObservedAnswer, sentAt: number): void => {
    // A request that was sent before the gate lifted belongs to the episode that raised it.
    if (episodes === 0 || sentAt >= gateLifts) episodes += 1;
    const now = clock.now();
    const asked = parseRetryAfter(headers, parseDate(headers, now) ?? now) ?? lastSeenReset(headers) ?? 60_000;
    const wait = waitAfterRefusal(asked, episodes, options.random());
    gateLifts = Math.max(gateLifts, clock.monotonic() + wait);
    memory.raiseGate(now + wait);
  };

  const lastSeenReset = (headers: ObservedAnswer['headers']) =>
    parseRateLimit(headers) === undefined ? undefined : lastSeen?.resetIn;

  const tooLong = (wait: number) =>
    new RateLimitedError('The rate limit leaves nothing to send now', { retryAfterSeconds: Math.ceil(wait / 1000) });

  return {
    admit,
    get lastSeen() {
      return lastSeen;
    },
  };
}
