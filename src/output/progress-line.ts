import { grouped } from '../inventory/items.ts';
import type { WaitReason } from '../rate-limit/key-state.ts';
import { barText } from './columns.ts';
import type { Paint } from './terminal.ts';
import { visibleWidth } from './text-width.ts';
import { formatDuration, roughDuration } from './time.ts';

export interface ProgressNumbers {
  readonly total: number;
  /** Rows with an outcome, including failed ones. */
  readonly done: number;
  readonly failed: number;
  /** Rows per second; undefined until it is known. */
  readonly rate: number | undefined;
  /** Seconds until the last row is done; undefined until it is known. */
  readonly left: number | undefined;
  /** Remaining milliseconds of the wait; undefined while nothing waits. */
  readonly waiting: number | undefined;
  readonly waitReason: WaitReason;
}

/** The forms of the line, from a wide terminal to a narrow one; the first that fits is used. */
const arrangements = [
  { bar: 'long', rate: true, failed: true, time: 'long' },
  { bar: 'short', rate: true, failed: true, time: 'long' },
  { bar: 'short', rate: false, failed: true, time: 'long' },
  { bar: 'none', rate: false, failed: true, time: 'long' },
  { bar: 'none', rate: false, failed: true, time: 'short' },
  { bar: 'none', rate: false, failed: true, time: 'none' },
  { bar: 'none', rate: false, failed: false, time: 'none' },
] as const;
/** Number of characters of a bar; a wide terminal has a longer one. */
const lengths = { long: 14, short: 8, none: 0 };
const [wide, longest] = [100, 30];
type Arrangement = (typeof arrangements)[number];

/**
 * Returns one line of at most `width` columns, without a line end; empty if not even the count fits:
 * `[██████░░░░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left`.
 */
export function progressLine(facts: ProgressNumbers, width: number, paint: Paint): string {
  const lines = arrangements.map((arrangement) => partsOf(facts, arrangement, width, paint).join('  '));
  // A truncated count would be a wrong number.
  return lines.find((line) => visibleWidth(line) <= width) ?? '';
}

/** Returns the progress of a run as a sentence, for a stream that is not a terminal. */
export function progressSentence({ total, done, failed, left }: ProgressNumbers): string {
  const failures = failed > 0 ? `, ${grouped(failed)} failed` : '';
  const time = left === undefined || done >= total ? '' : `, about ${roughDuration(left)} left`;
  return `${grouped(done)} of ${grouped(total)} done${failures}${time}.`;
}

function partsOf(facts: ProgressNumbers, arrangement: Arrangement, width: number, paint: Paint): string[] {
  const { total, done, failed, rate } = facts;
  const parts: string[] = [];
  const bar = arrangement.bar === 'long' && width >= wide ? longest : lengths[arrangement.bar];
  if (bar > 0) parts.push(`[${barText(total === 0 ? 1 : done / total, bar, paint, 'cyan')}]`);
  parts.push(`${grouped(done)}/${grouped(total)}`);
  if (arrangement.failed && failed > 0) parts.push(paint.red(`${grouped(failed)} failed`));
  if (arrangement.rate && facts.waiting === undefined && rate !== undefined && rate > 0) parts.push(rateText(rate));
  if (arrangement.time !== 'none') parts.push(...timePart(facts, arrangement.time === 'long', paint));
  return parts;
}

/** Returns what the run waits for, as part of a sentence. */
export function blocker({ waitReason }: Pick<ProgressNumbers, 'waitReason'>): string {
  return waitReason === 'refused' ? 'the rate limit' : 'the service';
}

function timePart(facts: ProgressNumbers, long: boolean, paint: Paint): string[] {
  const { total, done, left, waiting } = facts;
  if (waiting !== undefined) {
    const wait = waiting > 0 ? formatDuration(waiting / 1000) : '';
    return [paint.yellow(long ? `… waiting for ${blocker(facts)}${wait && `: ${wait}`}` : `waiting ${wait}`.trimEnd())];
  }
  if (left === undefined || done >= total) return [];
  const time = roughDuration(left);
  return [long ? `about ${time} left` : time];
}

function rateText(rate: number): string {
  if (rate < 1) return `${Math.max(1, Math.round(rate * 60))}/min`;
  return `${rate < 9.95 ? rate.toFixed(1) : grouped(Math.round(rate))}/s`;
}
