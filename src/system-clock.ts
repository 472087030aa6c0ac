import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './context.ts';

/** The clock of this machine. `bin` and the library make it; everything else is handed one. */
export function createSystemClock(): Clock {
  return {
    now: Date.now,
    monotonic: () => performance.now(),
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal }).catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },
    deadline: (ms) => {
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), ms);
      return { signal: controller.signal, clear: () => clearTimeout(timer) };
    },
  };
}
