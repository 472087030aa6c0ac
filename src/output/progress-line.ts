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

/** Number of characters of the bar. */
const barLength = 14;

/**
 * Returns one line of at most `width` columns, without a line end; empty if not even the count fits:
 * `[██████░░░░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left`. A narrow terminal has no bar, and a very narrow
 * one only the count.
 */
export function progressLine(facts: ProgressNumbers, width: number, paint: Paint): string {
  const { total, done, failed } = facts;
  const bar = `[${barText(total === 0 ? 1 : done / total, barLength, paint, 'cyan')}]`;
  const count = `${grouped(done)}/${grouped(total)}`;
  const failures = failed > 0 ? [paint.red(`${grouped(failed)} failed`)] : [];
  const time = timeParts(facts, paint);
  const lines = [[bar, count, ...failures, ...rateParts(facts), ...time], [count, ...failures, ...time], [count]];
  // A truncated count would be a wrong number.
  return lines.map((parts) => parts.join('  ')).find((line) => visibleWidth(line) <= width) ?? '';
}

/** Returns the progress of a run as a sentence, for a stream that is not a terminal. */
export function progressSentence({ total, done, failed, left }: ProgressNumbers): string {
  const failures = failed > 0 ? `, ${grouped(failed)} failed` : '';
  const time = left === undefined || done >= total ? '' : `, about ${roughDuration(left)} left`;
  return `${grouped(done)} of ${grouped(total)} done${failures}${time}.`;
}

/** Returns what the run waits for, as part of a sentence. */
export function blocker({ waitReason }: Pick<ProgressNumbers, 'waitReason'>): string {
  return { refused: 'the rate limit', unavailable: 'the service', pending: 'requests of other commands' }[waitReason];
}

function timeParts(facts: ProgressNumbers, paint: Paint): string[] {
  const { total, done, left, waiting } = facts;
  if (waiting !== undefined) {
    const wait = waiting > 0 ? `: ${formatDuration(waiting / 1000)}` : '';
    return [paint.yellow(`… waiting for ${blocker(facts)}${wait}`)];
  }
  return left === undefined || done >= total ? [] : [`about ${roughDuration(left)} left`];
}

function rateParts({ rate, waiting }: ProgressNumbers): string[] {
  if (waiting !== undefined || rate === undefined || rate <= 0) return [];
  if (rate < 1) return [`${Math.max(1, Math.round(rate * 60))}/min`];
  return [`${rate < 9.95 ? rate.toFixed(1) : grouped(Math.round(rate))}/s`];
}
