import type { Clock } from '../../src/shared/clock.ts';

/** Virtual time. It stands still while code runs, then jumps to the next event. */
export interface Timeline {
  /** Milliseconds since the timeline began. */
  readonly passed: number;
  /** Moves time ahead without running the events in between. */
  advance(ms: number): void;
  /** @returns a function that cancels the event */
  schedule(at: number, run: () => void): () => void;
  /** Rejects when there are no more events, or were too many. */
  readonly stalled: Promise<never>;
}

interface Event {
  readonly at: number;
  readonly run: () => void;
}

/** @param maxEvents after which the simulation is assumed to run in a circle */
export function createTimeline(maxEvents = 1_000_000): Timeline {
  const events: Event[] = [];
  let passed = 0;
  let runs = 0;
  let isRunning = false;
  let stall: (reason: Error) => void = () => {};
  const stalled = new Promise<never>((_, reject) => {
    stall = reject;
  });
  stalled.catch(() => {});
  const runNext = () => {
    const next = events.pop();
    runs += 1;
    if (next === undefined || runs > maxEvents) {
      isRunning = false;
      return stall(new Error(next === undefined ? 'nothing more will happen' : `still busy after ${passed / 1000} s`));
    }
    passed = Math.max(passed, next.at);
    next.run();
    afterAllThatFollows(runNext);
  };
  return {
    get passed() {
      return passed;
    },
    advance: (ms) => {
      passed += ms;
    },
    schedule: (at, run) => {
      const event = { at, run };
      // Events are in reverse order, and of two at the same time, the one scheduled first comes last.
      let index = events.length;
      while (index > 0 && (events[index - 1]?.at ?? 0) <= at) index -= 1;
      events.splice(index, 0, event);
      if (!isRunning) afterAllThatFollows(runNext);
      isRunning = true;
      return () => {
        const found = events.indexOf(event);
        if (found >= 0) events.splice(found, 1);
      };
    },
    stalled,
  };
}

/** Runs a function after all microtasks, even those that they queue, without the cost of a `setImmediate`. */
function afterAllThatFollows(run: () => void): void {
  queueMicrotask(() => process.nextTick(run));
}

/** A clock on which any number of sleepers can sleep at the same time. */
export interface VirtualClock extends Clock {
  /** Every sleep so far, in milliseconds. */
  readonly sleeps: readonly number[];
  /** Moves both clocks ahead without waking any sleeper. */
  advance(ms: number): void;
  /** Moves only the wall clock. */
  step(ms: number): void;
}

export interface VirtualClockOptions {
  /** Start of the wall clock: milliseconds since the Unix epoch. */
  readonly start?: number;
  readonly timeline?: Timeline;
  /** Returns when the process can run an event that is due at `at`, or infinity if it is dead. */
  resumesAt?(at: number): number;
}

export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  const { start = Date.UTC(2026, 0, 15, 12, 0, 20), timeline = createTimeline() } = options;
  const { resumesAt = (at: number) => at } = options;
  let stepped = 0;
  const sleeps: number[] = [];
  /** Schedules an event: later if the process is stopped then, and never if it is dead. */
  const schedule = (at: number, run: () => void): (() => void) => {
    let cancel = timeline.schedule(at, () => {
      const later = resumesAt(at);
      if (later <= at) run();
      else if (later < Number.POSITIVE_INFINITY) cancel = schedule(later, run);
    });
    return () => cancel();
  };
  return {
    sleeps,
    now: () => start + timeline.passed + stepped,
    monotonic: () => timeline.passed,
    advance: timeline.advance,
    step: (ms) => {
      stepped += ms;
    },
    sleep: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        sleeps.push(ms);
        const abort = () => {
          cancel();
          reject(signal?.reason);
        };
        const cancel = schedule(timeline.passed + ms, () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        signal?.addEventListener('abort', abort, { once: true });
      }),
    deadline: (ms, onPassed) => ({ clear: schedule(timeline.passed + ms, onPassed) }),
  };
}
