import { existsSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** Wall clock: milliseconds since the Unix epoch. Somebody may step it. */
  now(): number;
  /** Milliseconds since `boot`, never stepped, the same for all processes of this machine. */
  monotonic(): number;
  /** Names the start that `monotonic` counts from: another one after a restart of the machine. */
  boot(): string;
  /**
   * Resolves after `ms` milliseconds and keeps the process alive until then.
   * @throws the signal's reason once it is aborted
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `onPassed` after `ms` milliseconds unless it is cleared before. Not a signal: every request has one, and signals are expensive. */
  deadline(ms: number, onPassed: () => void): Deadline;
  /** The same value until the event loop has gone round once, another one after that. Absent: each call is a turn of its own. */
  turn?(): object;
}

export interface Deadline {
  clear(): void;
  /** Lets the process end before it has passed; absent on a clock that keeps no process alive. */
  unref?(): void;
}

export interface BootSources {
  /** The name of the boot on a system that has none: `keptBoot`, which takes a while to load. */
  kept?(monotonic: () => number): string;
  /** Where Linux has the name of the boot. */
  readonly bootId?: string;
}

const linuxBootId = '/proc/sys/kernel/random/boot_id';

export function hasBootId(): boolean {
  return existsSync(linuxBootId);
}

/**
 * The clock of this machine. `bin` and the library make it; everything else is handed one.
 * @param hrtime of `machineTime(process)`: an import of `node:process` would open all standard streams, for 4 ms of a start
 */
export function createSystemClock(hrtime: () => bigint, sources: BootSources = {}): Clock {
  // Unlike performance.now(), which counts from the start of the process.
  const monotonic = () => Number(hrtime()) / 1e6;
  let boot: string | undefined;
  let turn: object | undefined;
  const endTurn = () => {
    turn = undefined;
  };
  return {
    now: Date.now,
    monotonic,
    boot: () => {
      boot ??= readBoot(sources, monotonic);
      return boot;
    },
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal }).catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },
    deadline: (ms, onPassed) => {
      const timer = setTimeout(onPassed, Math.min(ms, longestTimer));
      return { clear: () => clearTimeout(timer), unref: () => void timer.unref() };
    },
    turn: () => {
      if (turn === undefined) {
        turn = {};
        setImmediate(endTurn);
      }
      return turn;
    },
  };
}

/** A longer one would overflow into 1 ms. */
const longestTimer = 2 ** 31 - 1;

function readBoot({ kept, bootId = linuxBootId }: BootSources, monotonic: () => number): string {
  try {
    return readFileSync(bootId, 'utf8').trim();
  } catch {
    // As on macOS and Windows.
  }
  try {
    if (kept !== undefined) return kept(monotonic);
  } catch {
    // The state says what is wrong with its folder.
  }
  // Its time identifies it, so that a stepped clock looks like a restart.
  return `since ${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
}
