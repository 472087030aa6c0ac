import { createHash } from 'node:crypto';
import { FailureError, NotFoundError, UsageError } from '../shared/errors.ts';
import type { Value } from './statements.ts';

/** From the year 10000 on, the year has six digits. */
const runPattern = /^\d{8}(?:\d\d)?T\d{6}Z-[0-9a-z]{4}$/;
const hint = 'petstock history list';

/**
 * Returns an id made of the time and four characters that distinguish runs of the same second.
 * @param at milliseconds since the Unix epoch
 * @param random a number in [0, 1)
 * @param attempt from 0; each gives another id, in case an id is taken
 */
export function runIdAt(at: number, random: number, attempt = 0): string {
  const time = new Date(at).toISOString().replace(/[-+:]|\.\d+/g, '');
  const number = Math.floor((random + attempt / 7) * 36 ** 4) % 36 ** 4;
  return `${time}-${number.toString(36).padStart(4, '0')}`;
}

/**
 * Returns the stored id of a run. Anyone who can write to a shared state can store anything there, so text that is not
 * an id is replaced by a stable name that is safe in commands and file names.
 */
export function runIdIn(value: Value | undefined): string {
  const text = String(value);
  return runPattern.test(text) ? text : `no-id-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/**
 * Parses a run as typed by a person: a whole id, or its last four characters (converted to lower case).
 * @throws UsageError if the text is neither
 */
export function readRunId(text: string): { readonly whole: string } | { readonly end: string } {
  if (/^[0-9a-z]{4}$/i.test(text)) return { end: text.toLowerCase() };
  if (runPattern.test(text)) return { whole: text };
  throw new UsageError(`${JSON.stringify(text)} is not the id of a run, such as 20260115T120020Z-k3x9`, { hint });
}

export function noSuchRun(run: string): NotFoundError {
  return new NotFoundError(`There is no run ${run} in the history`, { hint });
}

/**
 * Returns the only one of the matching runs.
 * @throws UsageError if several runs match, NotFoundError if none does, FailureError if the stored id is not valid
 */
export function onlyRun(text: string, [run, ...others]: readonly string[]): string {
  if (run === undefined) throw noSuchRun(text);
  if (!runPattern.test(run)) {
    throw new FailureError(`The history contains an invalid run id: ${JSON.stringify(run)}`, { hint });
  }
  if (others.length === 0) return run;
  throw new UsageError(`${text} matches several runs: ${[run, ...others].join(', ')}. Give the whole id`, { hint });
}
