import { grouped } from '../inventory/values.ts';
import { barText } from './change-rows.ts';
import { type Paint, plainPaint } from './terminal.ts';
import { formatDuration, roughDuration } from './time.ts';

export interface ProgressFacts {
  readonly total: number;
  /** Rows that have their answer, failed ones included. */
  readonly done: number;
  readonly failed: number;
  /** Rows a second; undefined until it is known. */
  readonly rate: number | undefined;
  /** Seconds until the last row has its answer; undefined until it is known. */
  readonly left: number | undefined;
  /** Milliseconds that the wait still takes; undefined while nothing waits. */
  readonly waiting: number | undefined;
  /** The cause of the wait: a 429 or a window that is spent, or a 502, 503 or 504. */
  readonly waitReason: 'refused' | 'unavailable';
}

/** The forms of the line, from a wide terminal to a narrow one; the first that fits is taken. */
const arrangements = [
  { bar: 'long', rate: true, failed: true, time: 'long' },
  { bar: 'short', rate: true, failed: true, time: 'long' },
  { bar: 'short', rate: false, failed: true, time: 'long' },
  { bar: 'none', rate: false, failed: true, time: 'long' },
  { bar: 'none', rate: false, failed: true, time: 'short' },
  { bar: 'none', rate: false, failed: true, time: 'none' },
  { bar: 'none', rate: false, failed: false, time: 'none' },
] as const;
/** Characters of a bar. It is longer on a wide terminal, whatever stands beside it. */
const lengths = { long: 14, short: 8, none: 0 };
const [wide, longest] = [100, 30];
type Arrangement = (typeof arrangements)[number];

interface Part {
  readonly text: string;
  readonly color?: 'red' | 'yellow';
  /** The line itself, if it is not the text in its colour. */
  readonly shown?: string;
}

/**
 * One line of at most `width` characters, without a line end:
 * `[██████░░░░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left`.
 */
export function progressLine(facts: ProgressFacts, width: number, paint: Paint): string {
  for (const arrangement of arrangements) {
    const bar = arrangement.bar === 'long' && width >= wide ? longest : lengths[arrangement.bar];
    const parts = [...barPart(facts, bar, paint), ...partsOf(facts, arrangement)];
    const length = parts.reduce((sum, { text }) => sum + text.length, gap.length * (parts.length - 1));
    if (length > width) continue;
    return parts.map(({ text, color, shown }) => shown ?? (color === undefined ? text : paint[color](text))).join(gap);
  }
  // Where not even the count fits, a part of it would be another count.
  return '';
}

/** How far the run has come as a sentence, for a stream that is no terminal. */
export function progressSentence({ total, done, failed, left }: ProgressFacts): string {
  const failures = failed > 0 ? `, ${grouped(failed)} failed` : '';
  const time = left === undefined || done >= total ? '' : `, about ${roughDuration(left)} left`;
  return `${grouped(done)} of ${grouped(total)} done${failures}${time}.`;
}

const gap = '  ';

function barPart({ total, done }: ProgressFacts, length: number, paint: Paint): Part[] {
  const share = total === 0 ? 1 : done / total;
  const bar = (painted: Paint) => `[${barText(share, length, painted, 'cyan')}]`;
  return length === 0 ? [] : [{ text: bar(plainPaint), shown: bar(paint) }];
}

function partsOf(facts: ProgressFacts, arrangement: Arrangement): Part[] {
  const { total, done, failed, rate } = facts;
  const parts: Part[] = [];
  parts.push({ text: `${grouped(done)}/${grouped(total)}` });
  if (arrangement.failed && failed > 0) parts.push({ text: `${grouped(failed)} failed`, color: 'red' });
  if (arrangement.rate && facts.waiting === undefined && rate !== undefined && rate > 0) {
    parts.push({ text: rateText(rate) });
  }
  if (arrangement.time !== 'none') parts.push(...timePart(facts, arrangement.time === 'long'));
  return parts;
}

/** Returns what is waited for, as a part of a sentence. */
export function awaited({ waitReason }: Pick<ProgressFacts, 'waitReason'>): string {
  return waitReason === 'refused' ? 'the rate limit' : 'the service';
}

function timePart(facts: ProgressFacts, long: boolean): Part[] {
  const { total, done, left, waiting } = facts;
  if (waiting !== undefined) {
    const wait = formatDuration(waiting / 1000);
    return [{ text: long ? `… waiting for ${awaited(facts)}: ${wait}` : `waiting ${wait}`, color: 'yellow' }];
  }
  if (left === undefined || done >= total) return [];
  const time = roughDuration(left);
  return [{ text: long ? `about ${time} left` : time }];
}

function rateText(rate: number): string {
  if (rate < 1) return `${Math.max(1, Math.round(rate * 60))}/min`;
  return `${rate < 9.95 ? rate.toFixed(1) : grouped(Math.round(rate))}/s`;
}
