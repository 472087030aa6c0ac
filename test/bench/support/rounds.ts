import type { Sample } from './measure.ts';
import { median } from './table.ts';

/** One line of a table: a way to do the work. */
export interface Contestant {
  readonly name: string;
  /**
   * Does the work once.
   *
   * @param isWarmUp the first time, which does not count: to look closely at the result is for then
   * @throws Error if it could not be done, WrongResult if what came out is not what should have
   */
  attempt(isWarmUp: boolean): Promise<Sample>;
}

export class Result {
  /** One for each round, in their order. */
  readonly samples: Sample[] = [];
  /** What is wrong with it. */
  fault: string | undefined;

  constructor(readonly name: string) {}

  median(of: keyof Sample): number {
    return median(this.samples.map((sample) => sample[of]));
  }

  /** The median of the ratios of each round: what slows the machine down for a while slows both. NaN without any. */
  ratioTo(other: Result | undefined, of: keyof Sample = 'ms'): number {
    const theirs = other?.samples ?? [];
    const pairs = this.samples.slice(0, theirs.length);
    return median(pairs.map((sample, round) => sample[of] / (theirs[round]?.[of] ?? Number.NaN)));
  }
}

/** A result that is not what it should be. What was measured of it is told with that. */
export class WrongResult extends Error {}

/** By name. */
export type Results = ReadonlyMap<string, Result>;

/**
 * Everybody once to warm up, then in rounds, each beginning with another one. Who fails is left out of the rounds that follow; a
 * wrong result in the warm-up is noted, and measured all the same.
 */
export async function runRounds(contestants: readonly Contestant[], rounds: number): Promise<Results> {
  const results = new Map(contestants.map(({ name }) => [name, new Result(name)]));
  const failed = new Set<Contestant>();
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % contestants.length;
    for (const contestant of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      const result = results.get(contestant.name);
      if (result === undefined || failed.has(contestant)) continue;
      progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${contestant.name}`);
      if (!(await isMeasured(contestant, result, round === 0))) failed.add(contestant);
    }
  }
  progress('');
  return results;
}

/** Reports whether it may be measured again. */
async function isMeasured(contestant: Contestant, result: Result, isWarmUp: boolean): Promise<boolean> {
  try {
    const sample = await contestant.attempt(isWarmUp);
    if (!isWarmUp) result.samples.push(sample);
    return true;
  } catch (error) {
    result.fault = (error as Error).message;
    return isWarmUp && error instanceof WrongResult;
  }
}

/** Overwrites one line, for whoever watches. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
