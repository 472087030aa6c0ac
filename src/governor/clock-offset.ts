/**
 * How far the service's clock is ahead of our monotonic one, in milliseconds: somewhere from `least` to `most`. The
 * monotonic clock is never stepped, so only a step of the service's clock can make two answers disagree.
 */
export interface ClockOffset {
  readonly least: number;
  readonly most: number;
}

/**
 * Narrows the offset by one answer. Its `Date` is cut to whole seconds, and was written between sending and receipt.
 *
 * @param date milliseconds since the Unix epoch
 * @param sentAt,receivedAt by the monotonic clock
 * @returns the intersection; where there is none, a clock was stepped, and only the new answer counts
 */
export function narrow(known: ClockOffset | undefined, date: number, sentAt: number, receivedAt: number): ClockOffset {
  const told = { least: date - receivedAt, most: date + 1000 - sentAt };
  if (known === undefined) return told;
  const both = { least: Math.max(known.least, told.least), most: Math.min(known.most, told.most) };
  return both.least <= both.most ? both : told;
}
