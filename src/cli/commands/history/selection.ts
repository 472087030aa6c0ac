import { UsageError } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/target.ts';
import { namedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** `north/staging`, `the store north`, `staging of all stores`, `all stores and environments` */
export function namedTargetText(invocation: Invocation): string {
  const { env, store } = namedTarget(invocation);
  if (env === undefined && store === undefined) return 'all stores and environments';
  if (env === undefined) return store === null ? 'the store without a name' : `the store ${store}`;
  return store === undefined ? `${env} of all stores` : targetName({ env, store: store ?? undefined });
}

const unitLengths = { d: 86_400_000, h: 3_600_000, min: 60_000 } as const;

/**
 * Reads a moment: a date, a date with a time (local, unless it says otherwise), or a length of time ago.
 * @param side a date alone is its first moment, or its last
 * @returns milliseconds since the Unix epoch; undefined if the option is absent
 */
export function parseDate(
  option: string,
  text: string | undefined,
  now: number,
  side: 'start' | 'end',
): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})(d|h|min)$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * unitLengths[unit as keyof typeof unitLengths];
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const hasTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/.test(text);
  // Without a zone a date alone would be read as UTC.
  const moment =
    isDate || hasTime
      ? Date.parse(isDate ? `${text}T${side === 'start' ? '00:00' : '23:59:59.999'}` : text)
      : Number.NaN;
  if (Number.isFinite(moment) && isRealDate(text)) return moment;
  throw new UsageError(
    `${option} takes a date such as 2026-01-15 or 2026-01-15T09:30, or 7d, 12h, 30min; not "${text}"`,
  );
}

/** Date takes 30 February for 2 March. */
function isRealDate(text: string): boolean {
  const [date = ''] = text.split('T');
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}
