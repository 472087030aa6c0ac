import type { Clock } from '../../src/shared/clock.ts';

/** A clock that stands still until something sleeps on it or a test moves it. */
export interface TestClock extends Clock {
  /** The durations of all sleeps so far, in milliseconds. */
  readonly sleeps: readonly number[];
  /** Moves the wall clock and the monotonic clock ahead, as time does. */
  advance(ms: number): void;
  /** Moves only the wall clock, as a person or NTP does. */
  step(ms: number): void;
  /** Moves both clocks to the last deadline, and expires each on the way, as while nothing else happens. */
  passDeadlines(): void;
  /** Expires every deadline, or only those of at most this many milliseconds. */
  expireDeadlines(most?: number): void;
}

/**
 * Creates a test clock.
 * @param start milliseconds since the Unix epoch; by default 20 s into a minute, 12 h before the day ends
 */
export function createTestClock(start = Date.UTC(2026, 0, 15, 12, 0, 20)): TestClock {
  let wall = start;
  let monotonic = 1000;
  const sleeps: number[] = [];
  const deadlines = new Map<() => void, { readonly ms: number; readonly due: number }>();
  const advance = (ms: number) => {
    wall += ms;
    monotonic += ms;
  };
  return {
    now: () => wall,
    monotonic: () => monotonic,
    sleeps,
    advance,
    step: (ms) => {
      wall += ms;
    },
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      sleeps.push(ms);
      advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
    deadline: (ms, onPassed) => {
      // The function itself can't be the key, because two deadlines may have the same function.
      const passed = () => onPassed();
      deadlines.set(passed, { ms, due: monotonic + ms });
      return { clear: () => void deadlines.delete(passed) };
    },
    passDeadlines: () => {
      const inOrder = [...deadlines].toSorted(([, one], [, other]) => one.due - other.due);
      for (const [passed, { due }] of inOrder) {
        advance(Math.max(0, due - monotonic));
        passed();
      }
    },
    expireDeadlines: (most = Number.POSITIVE_INFINITY) => {
      for (const [passed, { ms }] of deadlines) if (ms <= most) passed();
    },
  };
}
