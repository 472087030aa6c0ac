/**
 * How far the service's clock is ahead of this machine's monotonic clock, in milliseconds: between `least` and `most`.
 * The monotonic clock is never stepped. So a disagreement between two responses means that there are several backends,
 * or that a clock of the service was stepped.
 */
export interface ClockOffset {
  readonly least: number;
  readonly most: number;
  /** The monotonic time at which the offset was last determined. */
  readonly at: number;
  /**
   * Whether the offset was taken from this machine's wall clock, because no response had a `Date` yet, or because the
   * machine has restarted since. The first `Date` replaces it.
   */
  readonly guessed: boolean;
  /** Whether the offset is based on a single response, so that another backend may be behind. */
  readonly single?: boolean;
  /**
   * Whether two responses of this window disagreed. If so, the slowest clock counts until the next window has ended.
   */
  readonly disputed?: boolean;
  /** How far, in milliseconds, a backend that responded in the previous window was behind `least`. */
  readonly margin?: number;
}

/**
 * The `Date` of a response, in milliseconds since the Unix epoch. The service wrote it between sending and receipt, and
 * truncated it to whole seconds.
 */
export interface DatedResponse {
  readonly date: number;
  /** When the request was sent and the response received, by the monotonic clock. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** Whether the response is the first of a new window. */
  readonly isFirst?: boolean;
}

/** How far two clocks may drift apart, in milliseconds per millisecond: twice the drift of computer crystals. */
const drift = 0.0002;

/**
 * Narrows the offset by one response. If responses of one window disagree, the lowest bound stays until that window and
 * the next have ended, because a request may reach the backend whose clock is behind.
 */
export function narrow(
  known: ClockOffset | undefined,
  { date, sentAt, receivedAt, isFirst = false }: DatedResponse,
): ClockOffset {
  const fresh = { least: date - receivedAt, most: date + 1000 - sentAt, at: receivedAt, guessed: false };
  if (known === undefined || known.guessed) return { ...fresh, single: true };
  const slack = driftSince(known, receivedAt);
  const [knownLeast, knownMost] = [known.least - slack, known.most + slack];
  if (isFirst && known.disputed) return withMargin(fresh, fresh.least - knownLeast);
  const floor = isFirst ? Number.POSITIVE_INFINITY : knownLeast - (known.margin ?? 0);
  const [least, most] = [Math.max(knownLeast, fresh.least), Math.min(knownMost, fresh.most)];
  if (least <= most && !known.disputed) {
    return withMargin({ least, most, at: receivedAt, guessed: false }, least - floor);
  }
  const lowest = Math.min(knownLeast, fresh.least);
  const widest = { ...fresh, least: lowest, most: Math.max(knownMost, fresh.most), disputed: true };
  return withMargin(widest, lowest - floor);
}

function withMargin(offset: ClockOffset, margin: number): ClockOffset {
  return margin > 0 ? { ...offset, margin } : offset;
}

/** Returns the offset by this machine's wall clock: the best estimate while no response has had a `Date`. */
export function guess(wall: number, at: number): ClockOffset {
  return { least: wall - at, most: wall + 1000 - at, at, guessed: true };
}

/** Returns how far apart the clocks of backends can be in this window, in milliseconds; 0 if they agreed. */
export function disagreement({ least, most, disputed = false }: ClockOffset): number {
  return disputed ? most - least : 0;
}

/** Returns the earliest that the service's time can be at a monotonic time. */
export function earliestTime(offset: ClockOffset, at: number): number {
  return at + lowest(offset) - driftSince(offset, at);
}

/** Returns the first monotonic time at which every clock of the service has certainly reached `time`. */
export function whenReached(offset: ClockOffset, time: number): number {
  const at = time - lowest(offset);
  return at + driftSince(offset, at) / (1 - drift);
}

function lowest({ least, margin = 0 }: ClockOffset): number {
  return least - margin;
}

function driftSince({ at }: ClockOffset, now: number): number {
  return Math.max(0, now - at) * drift;
}
