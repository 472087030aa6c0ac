import { createHash } from 'node:crypto';
import { FailureError, NotFoundError, UsageError } from '../shared/errors.ts';
import type { Row } from './statements.ts';

/** A year from 10000 on has six digits. */
const runPattern = /^\d{8}(?:\d\d)?T\d{6}Z-[0-9a-z]{4}$/;
const hint = 'petstock history list';

/**
 * An id after the time and four characters that tell apart the runs of one second.
 * @param at milliseconds since the Unix epoch
 * @param random in [0, 1)
 * @param attempt from 0: another id each time, for one that is taken
 */
export function runIdAt(at: number, random: number, attempt: number): string {
  const time = new Date(at).toISOString().replace(/[-+:]|\.\d+/g, '');
  const suffix = Math.floor((random + attempt / 7) * 36 ** 4) % 36 ** 4;
  return `${time}-${suffix.toString(36).padStart(4, '0')}`;
}

/**
 * Returns the id of a run that the state has. Whoever can write to a shared one can put anything there: what is no id stands for itself by a name that
 * is none either, and that can come into a command or the name of a file.
 */
export function runIdIn(value: Row[string] | undefined): string {
  const text = String(value);
  return runPattern.test(text) ? text : `no-id-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/**
 * A run as a person has typed it: its whole id, or the end of it in lower case.
 * @throws UsageError for what is neither
 */
export function readRunId(text: string): { readonly whole: string } | { readonly end: string } {
  if (/^[0-9a-z]{4}$/i.test(text)) return { end: text.toLowerCase() };
  if (runPattern.test(text)) return { whole: text };
  throw new UsageError(`${JSON.stringify(text)} is not the id of a run, such as 20260115T120020Z-k3x9`, { hint });
}

export function noSuchRun(run: string): NotFoundError {
  return new NotFoundError(`There is no run ${run} in the history`, { hint });
}

/** @throws UsageError where several runs are meant, NotFoundError where there is none */
export function onlyRun(text: string, [run, ...others]: readonly string[]): string {
  if (run === undefined) throw noSuchRun(text);
  // Whoever can write to the state can put anything there; it must not come into a command or the name of a file.
  if (!runPattern.test(run)) {
    throw new FailureError(`The history has a run ${JSON.stringify(run)}, which is no id`, { hint });
  }
  if (others.length === 0) return run;
  throw new UsageError(`${text} may be ${[run, ...others].join(' or ')}: give the whole id`, { hint });
}
