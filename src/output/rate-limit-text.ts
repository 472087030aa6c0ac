import { counted, grouped } from '../inventory/items.ts';
import type { Estimate, KnownLimit } from '../rate-limit/known-limits.ts';
import type { RateLimit } from '../rate-limit/permits.ts';
import { type Target, targetName } from '../shared/hint.ts';
import { countColumn, shareColumns } from './columns.ts';
import { formatDuration, isoTime, localTime, minuteOf, roughDuration } from './time.ts';
import { type Column, plainColumns, type Row, type View } from './view.ts';

/** An estimate of how long a run takes, given the limits and the time for its requests. */
export interface RunEstimate extends Estimate {
  /** Seconds that the requests themselves take, by the measured round trip; undefined if no round trip was measured. */
  readonly working?: number | undefined;
}

/**
 * Returns the estimate of a run that reads the stock once and writes every change, on one line without a period: `1,200
 * changes, 1,201 requests: about 20 min at 60 a minute; the day's quota has 940 left, so 280 changes have to wait until
 * 19:00`. The daily quota is left out if it is sufficient.
 * @param now milliseconds since the Unix epoch
 */
export function estimateText(changes: number, estimate: RunEstimate, now: number): string {
  const { day } = estimate;
  const work = `${counted(changes, 'change')}, ${counted(changes + 1, 'request')}: ${timeText(estimate)}`;
  if (day === undefined || day.waiting === 0) return work;
  const kept = day.kept > 0 ? ` (${grouped(day.kept)} reserved for other commands)` : '';
  const waiting = `${counted(day.waiting, 'change')} ${day.waiting === 1 ? 'has' : 'have'} to wait`;
  const until = minuteOf(localTime(day.resetAt, now));
  return `${work}; the day's quota has ${grouped(day.left)} left${kept}, so ${waiting} until ${until}`;
}

function timeText({ seconds, perMinute, working }: RunEstimate): string {
  if (seconds <= 0) {
    // Up to a second is not worth mentioning.
    const length = working === undefined || working <= 1 ? '' : `, about ${roughDuration(working)}`;
    return `no wait for the rate limit${length}`;
  }
  if (!Number.isFinite(seconds)) return 'the rate limit allows no request';
  const rate = perMinute === undefined ? '' : ` at ${grouped(perMinute)} a minute`;
  // Some requests are in flight while others wait for the limit, so the longer of the two times counts.
  return `about ${roughDuration(Math.max(seconds, working ?? 0))}${rate}`;
}

/**
 * Returns `Rate limit: 57 of 60 left, resets in 42 s`, without a line end.
 * @param resetIn whole seconds until the window ends; 0 if it has ended
 * @param shown formats a number; scripts get plain digits
 */
export function rateLimitLine(
  { limit, remaining }: Pick<RateLimit, 'limit' | 'remaining'>,
  resetIn: number,
  shown: (value: number) => string,
): string {
  // Less than 100 seconds are counted down in seconds: `60 s`, then `59 s`.
  const time = resetIn < 100 ? `${resetIn} s` : formatDuration(resetIn);
  return `Rate limit: ${shown(remaining)} of ${shown(limit)} left, resets ${resetIn === 0 ? 'now' : `in ${time}`}`;
}

/** A window of a key, or only the key's gate if no window is known. */
export type LimitRow = Partial<KnownLimit> & {
  readonly target: Target;
  /** The key, masked except for its last 4 characters; `#` and the start of its hash if a command prints it. */
  readonly key: string;
  /** When the gate lifts, in milliseconds since the Unix epoch. */
  readonly gate: number | undefined;
};

/**
 * Returns the view of `limits`. JSON is
 * `[{"env","store","key","window","limit","remaining","resetAt","asOf","gate"}]`; a table has local times, shows how full
 * each window is, and leaves out keys without a known window.
 * @param now milliseconds since the Unix epoch
 */
export function limitsView(rows: readonly LimitRow[], now: number): View {
  const windows = rows.filter(({ limit }) => limit !== undefined);
  return {
    shape: 'list',
    isWordy: true,
    columns: plainColumns(fields),
    rows: [rows.map(toRow)],
    table: { columns: tableColumns, rows: [windows.map((window) => toTableRow(window, now))] },
  };
}

const fields = ['env', 'store', 'key', 'window', 'limit', 'remaining', 'resetAt', 'asOf', 'gate'] as const;

function toRow({ target, key, kind, limit, remaining, resetAt, asOf, gate, isOver }: LimitRow): Row {
  const times = { resetAt: timeOf(resetAt), asOf: timeOf(asOf), gate: timeOf(gate) };
  const names = { env: target.env, store: target.store ?? null, key, window: kind ?? null };
  return { ...names, limit: limit ?? null, remaining: isOver ? null : (remaining ?? null), ...times };
}

const timeOf = (time: number | undefined) => (time === undefined ? null : isoTime(time));

function toTableRow(window: LimitRow, now: number): Row {
  const { target, resetAt = 0, asOf = 0, isOver } = window;
  const reset = localTime(resetAt, now);
  const times = { resetAt: isOver ? `ended at ${reset}` : reset, asOf: localTime(asOf, now) };
  return { ...toRow(window), ...times, env: targetName(target), share: isOver ? null : usedShare(window) };
}

const nearlyFull = 0.8;

const tableColumns: readonly Column[] = [
  { field: 'env', title: 'Environment', whole: true },
  { field: 'key', title: 'Key', whole: true },
  { field: 'window', title: 'Window', whole: true },
  countColumn('limit', 'Limit'),
  countColumn('remaining', 'Left'),
  ...shareColumns('Used', ({ share }) =>
    Number(share) >= 1 ? 'red' : Number(share) >= nearlyFull ? 'yellow' : 'green',
  ),
  { field: 'resetAt', title: 'Resets at', whole: true },
  { field: 'asOf', title: 'As of', whole: true },
];

function usedShare({ limit = 0, remaining = 0 }: LimitRow): number {
  return limit > 0 ? Math.min(1, Math.max(0, 1 - remaining / limit)) : 1;
}
