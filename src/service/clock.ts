import { setTimeout as sleep } from 'node:timers/promises';

/** Where the service takes the time from: milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** Milliseconds. A store that takes longer to answer is of no use to clients, and what watches the service asks on. */
const BOUND_MS = 2_000;

/** Resolves with what comes of it in time, else with `late`. */
export function within<Result>(promise: Promise<Result>, late: Result): Promise<Result> {
  return Promise.race([promise, sleep(BOUND_MS, late, { ref: false })]);
}

/** Returns the work as one that is done once for all who ask while it is under way. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<Result> | null = null;
  return () => {
    underWay ??= work().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}
