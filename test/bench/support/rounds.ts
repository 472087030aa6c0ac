import type { Sample } from './measure.ts';

/** A way to do the work: a line of the table. */
export interface Contestant {
  readonly name: string;
  /**
   * Does the work once.
   * @param isWarmUp whether this is the warm-up, which is not measured and may check the result closely
   * @throws Error if the work fails, or WrongResult if its result is wrong
   */
  attempt(isWarmUp: boolean): Promise<Sample>;
}

export interface Result {
  readonly name: string;
  /** One for each round, in order. */
  readonly samples: Sample[];
  /** The last error of the contestant; undefined if there was none. */
  fault?: string;
}

/** Results by the names of their contestants. NaN means that nothing was measured. */
export class Results extends Map<string, Result> {
  median(name: string, of: keyof Sample): number {
    return median(this.get(name)?.samples.map((sample) => sample[of]) ?? []);
  }

  /** Returns the median of the rounds' ratios. If the machine is slow for a while, it slows both contestants. */
  ratio(name: string, to: string, of: keyof Sample = 'ms'): number {
    const [ours = [], theirs = []] = [this.get(name)?.samples, this.get(to)?.samples];
    const pairs = ours.slice(0, theirs.length);
    return median(pairs.map((sample, round) => sample[of] / (theirs[round]?.[of] ?? Number.NaN)));
  }
}

/** The result of a contestant is wrong. If that happens in the warm-up, the contestant is measured nevertheless. */
export class WrongResult extends Error {}

/**
 * Runs each contestant once to warm up, then in rounds, each of which begins with another contestant. A contestant that
 * fails is left out of the later rounds, unless it fails with WrongResult in the warm-up.
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

/** Overwrites the progress line on a terminal. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Returns NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
