import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * The clock of this machine. `bin` and the library make it; everything else is handed one.
 *
 * @param hrtime `process.hrtime.bigint`: an import of `node:process` would open all standard streams, for 4 ms of a start
 */
export function createSystemClock(hrtime: () => bigint): Clock {
  let boot: string | undefined;
  return {
    now: Date.now,
    // Unlike performance.now(), which counts from the start of the process.
    monotonic: () => Number(hrtime()) / 1e6,
    boot: () => {
      boot ??= readBoot();
      return boot;
    },
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal }).catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },
    deadline: (ms, onPassed) => {
      const timer = setTimeout(onPassed, Math.min(ms, longestTimer));
      return { clear: () => clearTimeout(timer) };
    },
  };
}

/** A longer one would overflow into 1 ms. */
const longestTimer = 2 ** 31 - 1;

/** Linux names each boot. Elsewhere its time identifies it, so that a stepped clock looks like a restart: that is safe. */
function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `since ${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
  }
}
