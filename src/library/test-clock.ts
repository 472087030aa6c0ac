import type { Clock } from '../shared/clock.ts';

/** A clock that a test can move ahead: sleeps that are over by then end. */
export interface MovableClock extends Clock {
  /** @param ms milliseconds */
  advance(ms: number): void;
}

/** Deadlines of requests stay in real time: what a test skips is a wait, not an answer. */
export function movableClock(base: Clock): MovableClock {
  let ahead = 0;
  const wakers = new Set<() => void>();
  const now = () => base.monotonic() + ahead;
  return {
    now: () => base.now() + ahead,
    monotonic: now,
    boot: () => base.boot(),
    deadline: (ms, onPassed) => base.deadline(ms, onPassed),
    sleep: async (ms, signal) => {
      const until = now() + ms;
      for (let left = ms; left > 0; left = until - now()) {
        signal?.throwIfAborted();
        await sleepOrWake(base, left, wakers, signal);
      }
      signal?.throwIfAborted();
    },
    advance: (ms) => {
      ahead += ms;
      for (const wake of wakers) wake();
    },
  };
}

async function sleepOrWake(
  base: Clock,
  ms: number,
  wakers: Set<() => void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  signal?.addEventListener('abort', end, { once: true });
  wakers.add(end);
  try {
    await base.sleep(ms, ending.signal);
  } catch {
    // It was woken, or interrupted: whoever sleeps looks at both.
  } finally {
    wakers.delete(end);
    signal?.removeEventListener('abort', end);
  }
}
