import { grouped } from '../inventory/grouped.ts';
import { formatDuration } from './duration.ts';
import { localTime } from './time.ts';

/** How long the limits make a run take; what `estimate` of the governor gives. */
export interface EstimateFacts {
  /** Until the last request may leave; 0: at once; infinite: never. */
  readonly seconds: number;
  /** The limit of the minute, where it is known. */
  readonly perMinute: number | undefined;
  readonly day: DayFacts | undefined;
}

export interface DayFacts {
  /** Requests that are left of the day's quota, and how many of these the run leaves to other commands. */
  readonly left: number;
  readonly kept: number;
  /** How many requests it is not enough for. */
  readonly waiting: number;
  /** When the next day begins: milliseconds since the Unix epoch. */
  readonly resetAt: number;
}

/**
 * What a run takes that reads the stock once and writes every change, in one line without a trailing period: `1,200 changes, 1,201 requests: about 20 min at 60 a minute;
 * the day's quota has 940 left, so 280 changes have to wait until 19:00:00`. The day is left out where it is enough.
 *
 * @param now milliseconds since the Unix epoch
 */
export function estimateText(changes: number, estimate: EstimateFacts, now: number): string {
  const { day } = estimate;
  const work = `${counted(changes, 'change')}, ${counted(changes + 1, 'request')}: ${timeText(estimate)}`;
  if (day === undefined || day.waiting === 0) return work;
  const kept = day.kept > 0 ? ` (${grouped(day.kept)} stay for other commands)` : '';
  const waiting = `${counted(day.waiting, 'change')} ${day.waiting === 1 ? 'has' : 'have'} to wait`;
  const until = localTime(day.resetAt, now);
  return `${work}; the day's quota has ${grouped(day.left)} left${kept}, so ${waiting} until ${until}`;
}

function timeText({ seconds, perMinute }: EstimateFacts): string {
  if (seconds <= 0) return 'at once';
  if (!Number.isFinite(seconds)) return 'the rate limit admits none';
  const rate = perMinute === undefined ? '' : ` at ${grouped(perMinute)} a minute`;
  return `about ${roughDuration(seconds)}${rate}`;
}

/** A length of time that is a guess, without figures that nobody can rely on: `20 min` rather than `19 min 42 s`. */
export function roughDuration(seconds: number): string {
  const step = seconds < 60 ? 1 : seconds < 600 ? 10 : seconds < 36_000 ? 60 : 3600;
  return formatDuration(Math.ceil(seconds / step) * step);
}

/** `1 change`, `1,200 changes` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}
