import type { Clock } from '../../src/context.ts';

/** A clock on which any number of sleepers sleep at the same time, as they do on a real one. */
export interface VirtualClock extends Clock {
  /** Moves both clocks ahead without waking anybody. */
  advance(ms: number): void;
}

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** Time stands still while anything runs; then it jumps to whoever wakes first. */
export function createVirtualClock(start = Date.UTC(2026, 0, 15, 12, 0, 20)): VirtualClock {
  let passed = 0;
  let sleepers: Sleeper[] = [];
  const wakeNext = () => {
    const next = sleepers.reduce((a, b) => (b.until < a.until ? b : a));
    sleepers = sleepers.filter((sleeper) => sleeper !== next);
    passed = Math.max(passed, next.until);
    next.wake();
    if (sleepers.length > 0) setImmediate(wakeNext);
  };
  return {
    now: () => start + passed,
    boot: () => 'test',
    monotonic: () => passed,
    advance: (ms) => {
      passed += ms;
    },
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        sleepers.push({ until: passed + ms, wake: resolve });
        if (sleepers.length === 1) setImmediate(wakeNext);
      });
      signal?.throwIfAborted();
    },
    deadline: () => ({ signal: new AbortController().signal, clear: () => {} }),
  };
}
