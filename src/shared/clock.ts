import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** The wall clock, in milliseconds since the Unix epoch. It may be stepped. */
  now(): number;
  /** Milliseconds since `boot`; never stepped, and the same for all processes of this machine. */
  monotonic(): number;
  /** Identifies the boot that `monotonic` counts from; changes with a restart of the machine. */
  boot(): string;
  /**
   * Resolves after `ms` milliseconds, and keeps the process alive until then.
   * @throws the signal's reason once it is aborted
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `onPassed` after `ms` milliseconds (at most 24 days) unless the deadline is cleared before. This is not an
   * AbortSignal, because every request needs a deadline, and signals are expensive.
   */
  deadline(ms: number, onPassed: () => void): Deadline;
}

export interface Deadline {
  clear(): void;
  /** Lets the process end earlier; absent on a clock that keeps no process alive. */
  unref?(): void;
}

export interface BootSources {
  /**
   * Returns a substitute on a system without a boot id: `keptBoot`, given as a callback because it takes a while to
   * load.
   */
  kept?(monotonic: () => number): string;
  /** The path of the boot id on Linux. */
  readonly bootId?: string;
}

const linuxBootId = '/proc/sys/kernel/random/boot_id';

export function hasBootId(): boolean {
  return existsSync(linuxBootId);
}

/**
 * Creates the clock of this machine. `bin` calls this; everything else receives a clock.
 * @param hrtime `machineTime(process)`, because importing `node:process` would open all standard streams and take 4 ms
 * of a start
 */
export function createSystemClock(hrtime: () => bigint, sources: BootSources = {}): Clock {
  // performance.now() can't be used, because it counts from the start of the process.
  const monotonic = () => Number(hrtime()) / 1e6;
  let boot: string | undefined;
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
      const timer = setTimeout(onPassed, Math.min(ms, maxTimer));
      return { clear: () => clearTimeout(timer), unref: () => void timer.unref() };
    },
  };
}

/** Maximum length of a timer in milliseconds; a longer one would overflow to 1 ms. */
const maxTimer = 2 ** 31 - 1;

function readBoot({ kept, bootId = linuxBootId }: BootSources, monotonic: () => number): string {
  try {
    return readFileSync(bootId, 'utf8').trim();
  } catch {
    // Systems like macOS and Windows have no id.
  }
  try {
    if (kept !== undefined) return kept(monotonic);
  } catch {
    // The state itself reports problems of its folder.
  }
  // The boot is identified by its time, so a stepped clock looks like a restart.
  return `since ${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
}

/** The part of `process` that is used. */
export interface Runtime {
  readonly platform: NodeJS.Platform;
  readonly hrtime: { bigint(): bigint };
}

/**
 * Returns a function that returns nanoseconds since some moment that is the same for all processes of this machine.
 * These times are not affected by changes of the wall clock, or by a container's own clock.
 */
export function machineTime(runtime: Runtime): () => bigint {
  const clock = runtime.hrtime.bigint;
  const offset = runtime.platform === 'linux' ? namespaceOffset() : 0n;
  return offset === 0n ? clock : () => clock() - offset;
}

/** Returns how far this process's clock is ahead of the machine's, in nanoseconds: time_namespaces(7). */
function namespaceOffset(): bigint {
  try {
    const text = readFileSync('/proc/self/timens_offsets', 'utf8');
    const [, seconds = '0', nanoseconds = '0'] = /^monotonic\s+(-?\d+)\s+(\d+)$/m.exec(text) ?? [];
    const offset = BigInt(seconds) * billion + BigInt(nanoseconds);
    // The file has the offsets of child processes, and they may get another namespace than this process.
    const isOurs =
      offset === 0n || readlinkSync('/proc/self/ns/time') === readlinkSync('/proc/self/ns/time_for_children');
    return isOurs ? offset : 0n;
  } catch {
    // Linux before 5.6 has no time namespaces.
    return 0n;
  }
}

const billion = 1_000_000_000n;
