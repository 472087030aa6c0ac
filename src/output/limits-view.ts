import type { KnownLimit } from '../rate-limit/known-limits.ts';
import { countColumn, shareColumns } from './change-rows.ts';
import { isoTime, localTime } from './time.ts';
import { type Column, plainColumns, type Row, type View } from './view.ts';

/** A limit, with as much of its key as may be shown. */
export interface LimitFacts extends KnownLimit {
  readonly key: string;
}

/**
 * The windows of `limits`. In JSON `[{"env","limit","remaining","resetAt","asOf"}]`; a table has times of the wall clock,
 * and shows how full each window is.
 * @param now milliseconds since the Unix epoch
 */
export function limitsView(windows: readonly LimitFacts[], now: number): View {
  return {
    shape: 'list',
    isWordy: true,
    columns: plainColumns(fields),
    rows: [windows.map(toRow)],
    table: { columns: tableColumns, rows: [windows.map((window) => toTableRow(window, now))] },
  };
}

const fields = ['env', 'limit', 'remaining', 'resetAt', 'asOf'] as const;

function toRow({ env, limit, remaining, resetAt, asOf }: LimitFacts): Row {
  return { env, limit, remaining, resetAt: isoTime(resetAt), asOf: isoTime(asOf) };
}

function toTableRow(window: LimitFacts, now: number): Row {
  const { kind, key, resetAt, asOf } = window;
  const times = { resetAt: localTime(resetAt, now), asOf: localTime(asOf, now) };
  return { ...toRow(window), ...times, kind, key, share: usedShare(window), bar: usedShare(window) };
}

/** From here on a window is nearly full. */
const nearlyFull = 0.8;

const tableColumns: readonly Column[] = [
  { field: 'env', title: 'Environment', whole: true },
  { field: 'key', title: 'Key', whole: true },
  { field: 'kind', title: 'Window', whole: true },
  countColumn('limit', 'Limit'),
  countColumn('remaining', 'Left'),
  ...shareColumns('Used', ({ share }) =>
    Number(share) >= 1 ? 'red' : Number(share) >= nearlyFull ? 'yellow' : 'green',
  ),
  { field: 'resetAt', title: 'Resets at', whole: true },
  { field: 'asOf', title: 'As of', whole: true },
];

function usedShare({ limit, remaining }: LimitFacts): number {
  return limit > 0 ? Math.min(1, Math.max(0, 1 - remaining / limit)) : 1;
}
