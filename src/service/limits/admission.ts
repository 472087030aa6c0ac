/** A fixed window aligned to the Unix epoch (and so to UTC), and how many requests were charged to it. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly start: number;
  /** Milliseconds. */
  readonly length: number;
  readonly used: bigint;
}

export const DAY_MS = 86_400_000;

/** A window that has ended by any clock. Its first use opens a new window. */
export const NEVER: Window = { start: -1, length: 0, used: 0n };

/**
 * Returns the window at `now`: `window` itself until it ends, otherwise a new, unused one. If a clock is set back,
 * `window` stays, because an earlier window would admit requests a second time. A window keeps the length it was opened
 * with: otherwise processes that were started with different lengths would reset each other's count.
 */
export function windowAt(window: Window, now: number, length: number): Window {
  if (now < windowEnd(window)) return window;
  return { start: Math.floor(now / length) * length, length, used: 0n };
}

/** Returns the end of a window, in milliseconds since the Unix epoch. */
function windowEnd(window: Window): number {
  return window.start + window.length;
}

/** Requests that a key may make per window, as an exact int64. */
export interface Limits {
  readonly minute: bigint;
  readonly day: bigint;
}

/** The plans whose limits the specification defines. Enterprise keys have limits of their own. */
export type Plan = 'free' | 'pro' | 'business';

export const PLANS: Readonly<Record<Plan, Limits>> = {
  free: { minute: 60n, day: 1_000n },
  pro: { minute: 300n, day: 10_000n },
  business: { minute: 1_000n, day: 100_000n },
};

/** The rule by which refused requests lead to a ban. */
export interface BanRule {
  /** Tolerated refusals in the minute after the first one, not counting its first second; one more bans the key. */
  readonly strikes: number;
  /** How long a ban lasts. Requests that are refused meanwhile don't extend it. */
  readonly seconds: number;
}

/** The record of a key's refused requests. Times are milliseconds since the Unix epoch. */
interface Conduct {
  /** When the first refusal started the minute in which strikes are counted; null if there was none. */
  readonly firstRefusalAt: number | null;
  readonly strikes: number;
  readonly bannedUntil: number | null;
}

const GOOD_CONDUCT: Conduct = { firstRefusalAt: null, strikes: 0, bannedUntil: null };

/**
 * Requests that are refused within this many milliseconds of the first refusal were probably in flight by then, so they
 * are not strikes.
 */
const GRACE_MS = 1_000;

/** Returns the end of the ban in effect at `now`; null if there is none. */
function bannedUntil(conduct: Conduct, now: number): number | null {
  return conduct.bannedUntil !== null && now < conduct.bannedUntil ? conduct.bannedUntil : null;
}

/**
 * Returns the conduct after one more refused request. Strikes are counted for the length of one minute window from the
 * first refusal; the next refusal after that counts as the first again.
 */
function afterRefusal(conduct: Conduct, rule: BanRule, minuteMs: number, now: number): Conduct {
  const since = conduct.firstRefusalAt === null ? -1 : now - conduct.firstRefusalAt;
  if (since < 0 || since >= minuteMs) return { firstRefusalAt: now, strikes: 0, bannedUntil: null };
  if (since <= GRACE_MS) return conduct;
  const strikes = conduct.strikes + 1;
  if (strikes <= rule.strikes) return { ...conduct, strikes };
  return { ...GOOD_CONDUCT, bannedUntil: now + rule.seconds * 1000 };
}

/** The data that is stored about one key or address between requests. */
export interface Usage {
  readonly minute: Window;
  readonly day: Window;
  readonly conduct: Conduct;
}

export const UNUSED: Usage = { minute: NEVER, day: NEVER, conduct: GOOD_CONDUCT };

export interface LimitRules {
  /** Length of the minute window; shorter in tests. */
  readonly minuteMs: number;
  /** Null if keys are never banned. */
  readonly ban: BanRule | null;
}

/** The window that the X-RateLimit headers report. */
export interface ShownLimit {
  readonly limit: bigint;
  readonly remaining: bigint;
  /** The end of the window, in milliseconds since the Unix epoch. */
  readonly resetAt: number;
}

/** A decision about a request. `at` is when it was made, in milliseconds since the Unix epoch. */
export type Admission = { readonly usage: Usage; readonly shown: ShownLimit; readonly at: number } & (
  | { readonly outcome: 'admitted' }
  /** `retryAt` is when the next request can be admitted, in milliseconds since the Unix epoch. */
  | { readonly outcome: 'limited'; readonly retryAt: number }
  | { readonly outcome: 'banned'; readonly retryAt: number }
);

/**
 * Decides about one request at `now`. The request is charged to both windows or to neither. This function is pure; `Quota` makes its
 * decision atomic.
 */
export function admit(usage: Usage, limits: Limits, rules: LimitRules, now: number): Admission {
  const minute = windowAt(usage.minute, now, rules.minuteMs);
  const day = windowAt(usage.day, now, DAY_MS);
  const minuteEnd = minute.used >= limits.minute ? windowEnd(minute) : 0;
  const dayEnd = day.used >= limits.day ? windowEnd(day) : 0;
  const banEnd = rules.ban === null ? null : bannedUntil(usage.conduct, now);

  if (banEnd === null && minuteEnd === 0 && dayEnd === 0) {
    const charged = { ...usage, minute: charge(minute), day: charge(day) };
    return { outcome: 'admitted', at: now, usage: charged, shown: shownLimit(charged, limits) };
  }

  const conduct =
    rules.ban === null || banEnd !== null ? usage.conduct : afterRefusal(usage.conduct, rules.ban, rules.minuteMs, now);
  const ban = rules.ban === null ? null : bannedUntil(conduct, now);
  const refused = { minute, day, conduct };
  const refusal = {
    at: now,
    usage: refused,
    shown: shownLimit(refused, limits),
    retryAt: Math.max(minuteEnd, dayEnd, ban ?? 0),
  };
  return { outcome: ban === null ? 'limited' : 'banned', ...refusal };
}

function charge(window: Window): Window {
  return { ...window, used: window.used + 1n };
}

/** Returns the window with fewer requests left; the day if both are equal. */
function shownLimit({ minute, day }: Pick<Usage, 'minute' | 'day'>, limits: Limits): ShownLimit {
  const ofMinute = remaining(limits.minute, minute);
  const ofDay = remaining(limits.day, day);
  return ofMinute < ofDay
    ? { limit: limits.minute, remaining: ofMinute, resetAt: windowEnd(minute) }
    : { limit: limits.day, remaining: ofDay, resetAt: windowEnd(day) };
}

function remaining(limit: bigint, { used }: Window): bigint {
  return used < limit ? limit - used : 0n;
}

/** Requests without the key that an address may make per minute window. */
const PER_ADDRESS: Limits = { minute: 600n, day: 2n ** 62n };

const KEPT = 10_000;

/**
 * Limits requests without the key per address, so that they never use up the key's quota. Such a caller gets 401; only
 * a flood gets 429. Usage is kept in memory for at most 10,000 addresses: the address known longest is dropped first.
 */
export function addressBuckets(minuteMs: number) {
  const rules: LimitRules = { minuteMs, ban: null };
  const usages = new Map<string, Usage>();
  return {
    admit: (address: string, now: number): Admission => {
      const admission = admit(usages.get(address) ?? UNUSED, PER_ADDRESS, rules, now);
      if (usages.size >= KEPT && !usages.has(address)) {
        const [oldest = ''] = usages.keys();
        usages.delete(oldest);
      }
      usages.set(address, admission.usage);
      return admission;
    },
    /** Returns the limit to show at `now`, without charging anything. */
    peek: (address: string, now: number): ShownLimit => {
      const { minute, day } = usages.get(address) ?? UNUSED;
      return shownLimit({ minute: windowAt(minute, now, minuteMs), day: windowAt(day, now, DAY_MS) }, PER_ADDRESS);
    },
  };
}
