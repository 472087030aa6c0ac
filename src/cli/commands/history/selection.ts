import type { RunFilter, RunRecord } from '../../../inventory/run-records.ts';
import { localMinute } from '../../../output/time.ts';
import { NotFoundError, UsageError } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/hint.ts';
import type { History } from '../../../state/history.ts';
import { isNarrowed, namedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import type { FoundState } from '../../invocation/state-access.ts';

/**
 * Describes the target that options and variables name, such as `north/staging`, `the store north`, `staging of all
 * stores`, or `all stores and environments`.
 */
export function namedTargetText(invocation: Invocation): string {
  const { env, store } = namedTarget(invocation);
  if (env === undefined && store === undefined) return 'all stores and environments';
  if (env === undefined) return store === null ? 'the store without a name' : `the store ${store}`;
  if (env === 'sandbox') return env;
  return store === undefined ? `${env} of all stores` : targetName({ env, store: store ?? undefined });
}

/**
 * Describes a period, such as ` from 2026-01-08 12:00 to 2026-01-15 23:59`. Without bounds, it lasts from the first run
 * until now.
 */
export function periodText({ since, until }: Pick<RunFilter, 'since' | 'until'>): string {
  const from = since === undefined ? '' : ` from ${localMinute(since)}`;
  return `${from || ' from the first run'} ${until === undefined ? 'until now' : `to ${localMinute(until)}`}`;
}

/**
 * Returns a run.
 * @param text its id, its last four characters, or `latest`: the newest run of the target that an option or a variable
 * names
 * @throws NotFoundError if there is no such run, UsageError if the text is not an id, or several runs end with it
 */
export async function findRun(
  invocation: Invocation,
  found: FoundState | undefined,
  text: string,
): Promise<{ readonly record: RunRecord; readonly history: History }> {
  const hint = 'petstock history list';
  if (found === undefined) throw new NotFoundError(`The history is empty, so there is no run "${text}"`, { hint });
  const { history } = found;
  if (text !== 'latest') return { record: await history.find(text), history };
  for await (const run of history.runs({ ...namedTarget(invocation), limit: 1 })) return { record: run, history };
  const of = isNarrowed(invocation) ? ` of ${namedTargetText(invocation)}` : '';
  throw new NotFoundError(`There is no run${of} in the history`, { hint });
}

/** Returns the period of `--since` and `--until`, in milliseconds since the Unix epoch. */
export function periodOf({ context }: Invocation, options: { readonly since?: string; readonly until?: string }) {
  const now = context.clock.now();
  return {
    since: parseDate('--since', options.since, now, 'start'),
    until: parseDate('--until', options.until, now, 'end'),
  };
}

const unitLengths = { w: 604_800_000, d: 86_400_000, h: 3_600_000, min: 60_000 } as const;
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * Parses a moment: a day, a date with a time (local by default), or a duration before now.
 * @param side whether a day without a time means its first or its last moment
 * @returns milliseconds since the Unix epoch; undefined if the option is absent
 * @throws UsageError for any other text
 */
export function parseDate(
  option: string,
  text: string | undefined,
  now: number,
  side: 'start' | 'end',
): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})(w|d|h|min)$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * unitLengths[unit as keyof typeof unitLengths];
  const day = dayOf(text.toLowerCase(), now);
  if (day !== undefined) return side === 'start' ? day.getTime() : day.setHours(23, 59, 59, 999);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const hasTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/.test(text);
  // `Date.parse` would read a date without a time as UTC.
  const moment =
    isDate || hasTime
      ? Date.parse(isDate ? `${text}T${side === 'start' ? '00:00' : '23:59:59.999'}` : text)
      : Number.NaN;
  if (Number.isFinite(moment) && isRealDate(text)) return moment;
  throw new UsageError(
    `${option} takes a date such as 2026-01-15 or 2026-01-15T09:30, today, yesterday, monday, or 7d, 1w, 12h, not "${text}"`,
  );
}

/**
 * Returns the beginning of today, of yesterday, or of the latest day with this weekday (possibly today). Undefined for
 * any other word.
 */
function dayOf(word: string, now: number): Date | undefined {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  const weekday = weekdays.indexOf(word);
  const back = weekday >= 0 ? (day.getDay() - weekday + 7) % 7 : ['today', 'yesterday'].indexOf(word);
  if (back < 0) return undefined;
  // Uses the calendar, because a day may have 23 hours.
  day.setDate(day.getDate() - back);
  return day;
}

/** Reports whether a date exists. `Date` reads 30 February as a day in March. */
function isRealDate(text: string): boolean {
  const [date = ''] = text.split('T');
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}
