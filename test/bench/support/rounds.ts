import type { Sample } from './measure.ts';
import { progress } from './progress.ts';
import { median } from './table.ts';

/** One line of a table: a way to do the work. */
export interface Contestant {
  readonly name: string;
  /** In the first so many rounds alone, and without a warm-up: for one that is slow, and that nothing is checked of. */
  readonly rounds?: number | undefined;
  /**
   * Does the work once.
   *
   * @param isWarmUp the first time, which does not count: to look closely at the result is for then
   * @throws what is wrong: it could not be done, or what came out is not what should have
   */
  attempt(isWarmUp: boolean): Promise<Sample>;
}

export class Result {
  /** One for each round, in their order. */
  readonly samples: Sample[] = [];
  /** What is wrong with it. */
  fault: string | undefined;
  /** It is not measured any more. */
  isOut = false;
  /** It had a warm-up, in which what came out was looked at. */
  isChecked = false;

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

/**
 * Everybody once to warm up, then in rounds, each beginning with another one. Who fails is left out of the rounds that follow; a
 * wrong result in the warm-up is noted, and measured all the same.
 *
 * @param seconds no round is begun after so many, but for the first
 */
export async function runRounds(
  contestants: readonly Contestant[],
  rounds: number,
  seconds = Number.POSITIVE_INFINITY,
): Promise<Results> {
  const results = new Results(contestants.map(({ name }) => new Result(name)));
  let ends = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds && (round < 2 || performance.now() < ends); round += 1) {
    if (round === 1) ends = performance.now() + seconds * 1000;
    for (let turn = 0; turn < contestants.length; turn += 1) {
      const index = (turn + round) % contestants.length;
      const contestant = contestants[index];
      const result = results.all[index];
      if (contestant === undefined || result === undefined || result.isOut) continue;
      if (contestant.rounds !== undefined && (round === 0 || round > contestant.rounds)) continue;
      progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${contestant.name}`);
      await attempt(contestant, result, round === 0);
    }
  }
  progress('');
  return results;
}

/** By name; a name that is not there has no result. */
export class Results {
  constructor(readonly all: readonly Result[]) {}

  /** Those of one kind, under the names of all. @param nameOf what one of them is called */
  renamed(nameOf: (name: string) => string): Results {
    return new Results(
      this.all.flatMap(({ name }) => {
        const result = this.get(nameOf(name));
        return result === undefined ? [] : [Object.assign(new Result(name), { ...result, name })];
      }),
    );
  }

  get(name: string): Result | undefined {
    return this.all.find((result) => result.name === name);
  }
}

async function attempt(contestant: Contestant, result: Result, isWarmUp: boolean): Promise<void> {
  try {
    const sample = await contestant.attempt(isWarmUp);
    if (isWarmUp) result.isChecked = true;
    if (!isWarmUp) result.samples.push(sample);
  } catch (error) {
    result.fault = (error as Error).message;
    result.isOut = !(isWarmUp && error instanceof WrongResult);
  }
}
