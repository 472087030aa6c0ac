import type { Clock } from '../../src/shared/clock.ts';

/** Virtual time: it stands still while anything runs, then jumps to whatever comes next. */
export interface Timeline {
  /** Milliseconds since the timeline began. */
  readonly passed: number;
  /** Moves time ahead without running what lies in between. */
  advance(ms: number): void;
  /** @returns takes it off again */
  schedule(at: number, run: () => void): () => void;
  /** Time stands still until real work is done. */
  standStill<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Rejects when nothing more can happen, or too much has. */
  readonly stalled: Promise<never>;
}

interface Event {
  readonly at: number;
  readonly run: () => void;
}

/** @param maxEvents after this many events something runs in a circle */
export function createTimeline(maxEvents = 1_000_000): Timeline {
  const events: Event[] = [];
  let passed = 0;
  let runs = 0;
  let isRunning = false;
  let works = 0;
  let isStanding = false;
  let stall: (reason: Error) => void = () => {};
  const stalled = new Promise<never>((_, reject) => {
    stall = reject;
  });
  stalled.catch(() => {});
  const runNext = () => {
    isStanding = works > 0;
    if (isStanding) return;
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
      // The next one is the last, and of two at the same time the one that came first.
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
    standStill: async (work) => {
      works += 1;
      try {
        return await work();
      } finally {
        works -= 1;
        if (works === 0 && isStanding) afterAllThatFollows(runNext);
        if (works === 0) isStanding = false;
      }
    },
    stalled,
  };
}

/** Runs once all microtasks are done, those that they begin included. A `setImmediate` would do, at a system call each. */
function afterAllThatFollows(run: () => void): void {
  queueMicrotask(() => process.nextTick(run));
}

/** A clock on which any number of sleepers sleep at the same time, as they do on a real one. */
export interface VirtualClock extends Clock {
  /** Every sleep so far, in milliseconds. */
  readonly sleeps: readonly number[];
  /** Moves both clocks ahead without waking anybody. */
  advance(ms: number): void;
  /** Moves the wall clock alone. */
  step(ms: number): void;
}

export interface VirtualClockOptions {
  /** The wall clock at the beginning: milliseconds since the Unix epoch. */
  readonly start?: number;
  readonly timeline?: Timeline;
  readonly boot?: string;
  /** The time at which a process runs again that has something to do at a time; never for a dead one. */
  resumesAt?(at: number): number;
}

export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  const { start = Date.UTC(2026, 0, 15, 12, 0, 20), timeline = createTimeline(), boot = 'test' } = options;
  const { resumesAt = (at: number) => at } = options;
  let stepped = 0;
  const sleeps: number[] = [];
  /** Stopped processes do everything later, and dead ones nothing. */
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
    boot: () => boot,
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
