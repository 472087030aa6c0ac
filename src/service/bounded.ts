import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. A store that takes longer to answer is of no use to clients, and what watches the service asks on. */
const BOUND_MS = 2_000;

/** What comes of it in time, else `late`. */
export function within<Result>(promise: Promise<Result>, late: Result): Promise<Result> {
  return Promise.race([promise, sleep(BOUND_MS, late, { ref: false })]);
}
