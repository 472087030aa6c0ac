import type { Clock } from '../../src/shared/clock.ts';

/** A clock that stands still until something sleeps on it or a test moves it. */
export interface TestClock extends Clock {
  /** Every sleep so far, in milliseconds. */
  readonly sleeps: readonly number[];
  /** Moves both clocks ahead, as time does. */
  advance(ms: number): void;
  /** Moves the wall clock alone, as a person or NTP does. */
  step(ms: number): void;
  /** Lets every deadline that is set run out. */
  expireDeadlines(): void;
}

/** @param start milliseconds since the Unix epoch; by default 20 s into a minute, 12 h before the day ends */
export function createTestClock(start = Date.UTC(2026, 0, 15, 12, 0, 20)): TestClock {
  let wall = start;
  let monotonic = 1000;
  const sleeps: number[] = [];
  const deadlines = new Set<() => void>();
  const advance = (ms: number) => {
    wall += ms;
    monotonic += ms;
  };
  return {
    now: () => wall,
    boot: () => 'test',
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
    deadline: (_ms, onPassed) => {
      // Not the function itself: two deadlines may have the same.
      const passed = () => onPassed();
      deadlines.add(passed);
      return { clear: () => void deadlines.delete(passed) };
    },
    expireDeadlines: () => {
      for (const passed of deadlines) passed();
    },
  };
}
