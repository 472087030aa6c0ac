import type { Result } from './rounds.ts';

/** What a benchmark has found, for people and for `docs/performance.md`. */
export interface Report {
  /** Markdown. */
  readonly text: string;
  readonly goals: readonly Goal[];
}

/** One row of what is to be reached. */
export interface Goal {
  readonly what: string;
  readonly goal: string;
  readonly reached: string;
  /** Undefined where nothing was measured. */
  readonly isReached: boolean | undefined;
}

/** Judges one of the numbers of a goal. What was not measured is not a number. */
export interface Judged {
  readonly text: string;
  readonly isReached: boolean | undefined;
}

/** At most so many times as long. */
export function atMost(value: number, limit: number): Judged {
  return { text: times(value), isReached: Number.isNaN(value) ? undefined : value <= limit };
}

/** At least so many times as fast. */
export function atLeast(value: number, limit: number): Judged {
  return { text: times(value), isReached: Number.isNaN(value) ? undefined : value >= limit };
}

/** A number of MB. */
export function megabytes(value: number, limit: number): Judged {
  return { text: `${whole(value)} MB`, isReached: Number.isNaN(value) ? undefined : value <= limit };
}

/**
 * A goal is reached when all its numbers are.
 *
 * @param parts each number with what it is
 */
export function goalOf(what: string, goal: string, parts: readonly (readonly [Judged, string])[]): Goal {
  const verdicts = parts.map(([{ isReached }]) => isReached);
  const isReached = verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true;
  const isMeasured = verdicts.some((verdict) => verdict !== undefined);
  const reached = isMeasured ? parts.map(([{ text }, of]) => `${text} ${of}`.trim()).join('; ') : '-';
  return { what, goal, reached, isReached };
}

/** What is wrong with ours, as a number that misses any goal: a wrong id is not a fast id. */
export function faultsOf(results: readonly (Result | undefined)[]): (readonly [Judged, string])[] {
  return results.flatMap((result) =>
    result?.fault === undefined
      ? []
      : [[{ text: `${result.name}:`, isReached: false }, oneLine(result.fault)] as const],
  );
}

/** `1.25 x`; a dash for what was not measured. */
export function times(value: number): string {
  return Number.isNaN(value) ? '-' : `${value.toFixed(value < 10 ? 2 : 1)} x`;
}

export function seconds(ms: number): string {
  return Number.isNaN(ms) ? '-' : (ms / 1000).toFixed(2);
}

export function whole(value: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(0);
}

/** `yes` for what was measured and found right. */
export function verdict({ fault }: Result): string {
  return fault === undefined ? 'yes' : `no: ${oneLine(fault)}`;
}

const oneLine = (fault: string) => fault.replaceAll(/\s+/g, ' ').slice(0, 120);
