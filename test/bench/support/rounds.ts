import type { Sample } from './measure.ts';

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

export interface Result {
  readonly name: string;
  /** One for each round, in their order. */
  readonly samples: Sample[];
  /** What is wrong with it. */
  fault?: string;
}

/** By name. NaN stands for what was not measured. */
export class Results extends Map<string, Result> {
  median(name: string, of: keyof Sample): number {
    return median(this.get(name)?.samples.map((sample) => sample[of]) ?? []);
  }

  /** The median of the ratios of each round: what slows the machine down for a while slows both. */
  ratio(name: string, to: string, of: keyof Sample = 'ms'): number {
    const [ours = [], theirs = []] = [this.get(name)?.samples, this.get(to)?.samples];
    const pairs = ours.slice(0, theirs.length);
    return median(pairs.map((sample, round) => sample[of] / (theirs[round]?.[of] ?? Number.NaN)));
  }
}

/** A result that is not what it should be. What was measured of it is told with that. */
export class WrongResult extends Error {}

/**
 * Everybody once to warm up, then in rounds, each beginning with another one. Who fails is left out of the rounds that follow; a
 * wrong result in the warm-up is noted, and measured all the same.
 */
export async function runRounds(contestants: readonly Contestant[], rounds: number): Promise<Results> {
  const results = new Results(contestants.map(({ name }) => [name, { name, samples: [] }]));
  const failed = new Set<string>();
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % contestants.length;
    for (const { name, attempt } of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      const result = results.get(name);
      if (result === undefined || failed.has(name)) continue;
      progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${name}`);
      await attempt(round === 0).then(
        (sample) => round > 0 && result.samples.push(sample),
        (error: Error) => {
          result.fault = error.message;
          if (round > 0 || !(error instanceof WrongResult)) failed.add(name);
        },
      );
    }
  }
  progress('');
  return results;
}

/** Overwrites one line, for whoever watches. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
