import { setTimeout as sleep } from 'node:timers/promises';

/** A clock, in milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/**
 * Maximum wait for the storage in a check or a measurement, in milliseconds. A storage that takes longer to respond is
 * useless to clients, and monitoring tries again.
 */
const BOUND_MS = 2_000;

/** Resolves with the result of a promise, or with `late` after `BOUND_MS`. */
export function within<Result>(promise: Promise<Result>, late: Result): Promise<Result> {
  return Promise.race([promise, sleep(BOUND_MS, late, { ref: false })]);
}

/** Returns a function that starts `work`. While a call is pending, the function returns that call's promise. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<Result> | null = null;
  return () => {
    underWay ??= work().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}
