/**
 * How far the service's clock is ahead of our monotonic one, in milliseconds: somewhere from `least` to `most`. The
 * monotonic clock is never stepped, so only a step of the service's clock can make two answers disagree.
 */
export interface ClockOffset {
  readonly least: number;
  readonly most: number;
  /** When it was last narrowed, by the monotonic clock. */
  readonly at: number;
  /** Taken from our own wall clock, for want of a `Date`: the first `Date` goes before it. */
  readonly guessed: boolean;
}

/** By how much two clocks may drift apart, in milliseconds per millisecond: twice what the crystals of computers do. */
const drift = 0.0002;

/**
 * Narrows the offset by one answer. Its `Date` is cut to whole seconds, and was written between sending and receipt.
 *
 * @param date milliseconds since the Unix epoch
 * @param sentAt,receivedAt by the monotonic clock
 * @returns the intersection; where it is empty, a clock was stepped, and only the new answer counts
 */
export function narrow(known: ClockOffset | undefined, date: number, sentAt: number, receivedAt: number): ClockOffset {
  const fresh = { least: date - receivedAt, most: date + 1000 - sentAt, at: receivedAt, guessed: false };
  if (known === undefined || known.guessed) return fresh;
  const slack = driftSince(known, receivedAt);
  const least = Math.max(known.least - slack, fresh.least);
  const most = Math.min(known.most + slack, fresh.most);
  return least <= most ? { ...fresh, least, most } : fresh;
}

/** What our own wall clock says of the offset: the best there is while no answer has had a `Date`. */
export function guess(wall: number, at: number): ClockOffset {
  return { least: wall - at, most: wall + 1000 - at, at, guessed: true };
}

/** The service's time at a moment of the monotonic clock, or earlier, but never later. */
export function earliestTime(offset: ClockOffset, at: number): number {
  return at + offset.least - driftSince(offset, at);
}

/** The first moment of the monotonic clock at which the service's clock has reached a time for sure. */
export function whenReached(offset: ClockOffset, time: number): number {
  const at = time - offset.least;
  return at + driftSince(offset, at) / (1 - drift);
}

function driftSince({ at }: ClockOffset, now: number): number {
  return Math.max(0, now - at) * drift;
}
