import fc from 'fast-check';
import { test } from 'vitest';
import { propertySeed } from './property-runs.ts';

/**
 * Makes fast-check draw the same cases in each CI run, so that a commit that has passed passes again. Elsewhere, each
 * run draws new ones. A failure prints its seed; `PETSTOCK_SEED=<seed>` repeats it.
 */
fc.configureGlobal({ seed: propertySeed(process.env.CI !== undefined) });

export default fc;

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
