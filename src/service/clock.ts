import { setTimeout as sleep } from 'node:timers/promises';

/** The service's clock: milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** Milliseconds. A storage that takes longer to respond is useless to clients, and monitoring tries again. */
const BOUND_MS = 2_000;

/** Resolves with the result, or with `late` if it takes too long. */
export function within<Result>(promise: Promise<Result>, late: Result): Promise<Result> {
  return Promise.race([promise, sleep(BOUND_MS, late, { ref: false })]);
}

/** Returns a function whose callers share one pending call. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<Result> | null = null;
  return () => {
    underWay ??= work().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}
