import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../src/shared/clock.ts';

/** Creates the clock of this machine. */
export function createSystemClock(): Clock {
  return {
    now: Date.now,
    monotonic: () => Number(process.hrtime.bigint()) / 1e6,
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal }).catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },
    deadline: (ms, onPassed) => {
      const timer = setTimeout(onPassed, Math.min(ms, maxTimer));
      return { clear: () => clearTimeout(timer), unref: () => void timer.unref() };
    },
  };
}

/** Maximum length of a timer in milliseconds; a longer one would overflow to 1 ms. */
const maxTimer = 2 ** 31 - 1;
