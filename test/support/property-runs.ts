const { PETSTOCK_RUNS, PETSTOCK_SEED } = process.env;

/** The seed of every property: that of `PETSTOCK_SEED`; else the same one where `fixed`, and a fresh one elsewhere. */
export function propertySeed(fixed: boolean): number {
  if (PETSTOCK_SEED !== undefined) return Number(PETSTOCK_SEED);
  return fixed ? 20261121 : Date.now() % 2 ** 31;
}

/**
 * How many cases of a property, and from which seed: `usual` of them from a fixed seed, so that a failure is the same everywhere;
 * `PETSTOCK_RUNS` for a long run, which has a fresh seed unless `PETSTOCK_SEED` names one.
 *
 * @param share of `PETSTOCK_RUNS`, where a case is slow
 */
export function propertyRuns(usual: number, share = 1): { readonly numRuns: number; readonly seed: number } {
  const numRuns = PETSTOCK_RUNS === undefined ? usual : Math.ceil(Number(PETSTOCK_RUNS) * share);
  return { numRuns, seed: propertySeed(PETSTOCK_RUNS === undefined) };
}
