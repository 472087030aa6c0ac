import fc from 'fast-check';
import { test } from 'vitest';
import { propertySeed } from './property-runs.ts';

/**
 * fast-check whose cases are the same at every attempt of CI, so that a commit which passed once passes again; elsewhere each run
 * tries new ones. A failure prints its seed: `PETSTOCK_SEED=<seed>` tries it again.
 */
fc.configureGlobal({ seed: propertySeed(process.env.CI !== undefined) });

export default fc;

interface Parameters<Drawn> extends fc.Parameters<Drawn> {
  /** Milliseconds for all cases together. */
  readonly testTimeout?: number;
}

type Arbitraries<Drawn> = { readonly [Index in keyof Drawn]: fc.Arbitrary<Drawn[Index]> };
type Check<Drawn extends unknown[]> = (...drawn: Drawn) => unknown;

/** Defines the test that what is checked holds for whatever the arbitraries draw, as `test.prop` of @fast-check/vitest does. */
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
