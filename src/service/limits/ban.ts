/** When refused requests turn into a ban. */
export interface BanRule {
  /** Refused requests that are tolerated within a minute; one more bans the key. */
  readonly strikes: number;
  /** How long the ban lasts. */
  readonly seconds: number;
}

/** What is remembered of a key's refused requests. Times are milliseconds since the Unix epoch. */
export interface Conduct {
  /** The refusal that opened the minute in which strikes are counted. */
  readonly firstRefusalAt: number | null;
  readonly strikes: number;
  readonly bannedUntil: number | null;
}

export const GOOD_CONDUCT: Conduct = { firstRefusalAt: null, strikes: 0, bannedUntil: null };

/** Requests refused this soon after the first were already in flight when it was answered: no strikes. */
const GRACE_MS = 1_000;

/** The end of the ban that `now` falls into, or null. */
export function bannedUntil(conduct: Conduct, now: number): number | null {
  return conduct.bannedUntil !== null && now < conduct.bannedUntil ? conduct.bannedUntil : null;
}

/**
 * Conduct after one more refused request.
 * Strikes are counted for one minute window's length from the first refusal; then the next refusal is a first one again.
 */
export function afterRefusal(conduct: Conduct, rule: BanRule, minuteMs: number, now: number): Conduct {
  const since = conduct.firstRefusalAt === null ? -1 : now - conduct.firstRefusalAt;
  if (since < 0 || since >= minuteMs) return { firstRefusalAt: now, strikes: 0, bannedUntil: null };
  if (since <= GRACE_MS) return conduct;
  const strikes = conduct.strikes + 1;
  if (strikes <= rule.strikes) return { ...conduct, strikes };
  return { ...GOOD_CONDUCT, bannedUntil: now + rule.seconds * 1000 };
}
