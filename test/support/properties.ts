import fc from 'fast-check';
import { test } from 'vitest';

const { PETSTOCK_RUNS, PETSTOCK_SEED } = process.env;

/**
 * Returns the seed of all properties: `PETSTOCK_SEED` if set; else always the same number if `fixed`, and a new one if
 * not.
 */
export function propertySeed(fixed: boolean): number {
  if (PETSTOCK_SEED !== undefined) return Number(PETSTOCK_SEED);
  return fixed ? 20261121 : Date.now() % 2 ** 31;
}

/**
 * Makes fast-check draw the same cases in each CI run, so that a commit that has passed passes again. Elsewhere, each
 * run draws new ones. A failure prints its seed; `PETSTOCK_SEED=<seed>` repeats it.
 */
fc.configureGlobal({ seed: propertySeed(process.env.CI !== undefined) });

export default fc;

/**
 * Returns the number of cases of a property, and the seed. By default these are `usual` cases from a fixed seed, so
 * that a failure is the same everywhere. `PETSTOCK_RUNS` sets the number for a long run, which has a new seed unless
 * `PETSTOCK_SEED` is set.
 * @param share the part of `PETSTOCK_RUNS` that a property with slow cases takes
 */
export function propertyRuns(usual: number, share = 1): { readonly numRuns: number; readonly seed: number } {
  const numRuns = PETSTOCK_RUNS === undefined ? usual : Math.ceil(Number(PETSTOCK_RUNS) * share);
  return { numRuns, seed: propertySeed(PETSTOCK_RUNS === undefined) };
}

interface Parameters<Drawn> extends fc.Parameters<Drawn> {
  /** The limit for all cases together, in milliseconds. */
  readonly testTimeout?: number;
}

type Arbitraries<Drawn> = { readonly [Index in keyof Drawn]: fc.Arbitrary<Drawn[Index]> };
type Check<Drawn extends unknown[]> = (...drawn: Drawn) => unknown;

/** Defines a test that runs the check with whatever the arbitraries draw, like `test.prop` of @fast-check/vitest. */
export function property<Drawn extends [unknown, ...unknown[]]>(
  title: string,
  arbitraries: Arbitraries<Drawn>,
  ...rest: [check: Check<Drawn>] | [parameters: Parameters<Drawn>, check: Check<Drawn>]
): void {
  const [{ testTimeout, ...parameters }, check] = rest.length === 1 ? [{} as Parameters<Drawn>, rest[0]] : rest;
  const judge = async (...drawn: Drawn) => {
    await check(...drawn);
  };
  test(title, () => fc.assert(fc.asyncProperty(...arbitraries, judge), parameters), testTimeout);
}

/**
 * Returns an arbitrary for text of whole code points, half of them ASCII. `fc.string({ unit: 'binary' })` does the
 * same, but its first use spends two seconds on a table of code points.
 */
export function anyText(constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  const codePoint = fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 0x7f }), weight: 2 },
    { arbitrary: fc.integer({ min: 0x80, max: 0xd7ff }), weight: 1 },
    { arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }), weight: 1 },
  );
  return fc.array(codePoint, constraints).map((codePoints) => String.fromCodePoint(...codePoints));
}
