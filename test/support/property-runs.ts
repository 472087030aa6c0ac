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
 * Returns the number of cases of a property, and the seed. By default these are `usual` cases from a fixed seed, so
 * that a failure is the same everywhere. `PETSTOCK_RUNS` sets the number for a long run, which has a new seed unless
 * `PETSTOCK_SEED` is set.
 * @param share the part of `PETSTOCK_RUNS` that a property with slow cases takes
 */
export function propertyRuns(usual: number, share = 1): { readonly numRuns: number; readonly seed: number } {
  const numRuns = PETSTOCK_RUNS === undefined ? usual : Math.ceil(Number(PETSTOCK_RUNS) * share);
  return { numRuns, seed: propertySeed(PETSTOCK_RUNS === undefined) };
}
