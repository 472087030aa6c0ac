import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import { FailureError } from './errors.ts';

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
   * Calls `onPassed` after `ms` milliseconds unless the deadline is cleared before. This is not an AbortSignal, because
   * every request needs a deadline, and signals are expensive.
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
 * Creates the clock of this machine. `bin` and the library call this; everything else receives a clock.
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
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly hrtime: { bigint(): bigint };
  getBuiltinModule(name: string): unknown;
}

/**
 * Returns a function that returns nanoseconds since some moment that is the same for all processes of this machine, in
 * any runtime. These times are not affected by changes of the wall clock, or by a container's own clock. Node provides
 * them. Executables run on bun, whose clock counts from the start of the process, so there the function asks the system
 * for the clock that Node reads. The returned function throws FailureError if bun can't ask the system, because times
 * of other processes would be wrong.
 */
export function machineTime(runtime: Runtime): () => bigint {
  const clock = clockOf(runtime);
  const offset = runtime.platform === 'linux' ? namespaceOffset() : 0n;
  return offset === 0n ? clock : () => clock() - offset;
}

function clockOf(runtime: Runtime): () => bigint {
  if (runtime.versions.bun === undefined) return runtime.hrtime.bigint;
  const open = () => {
    const ffi = runtime.getBuiltinModule('bun:ffi') as Ffi;
    return runtime.platform === 'win32' ? performanceCounter(ffi) : clockGettime(ffi, runtime.platform);
  };
  // Opened on first use: many commands don't need it.
  let read: (() => bigint) | undefined;
  return () => {
    try {
      read ??= open();
      return read();
    } catch (cause) {
      throw new FailureError(unreadable, { cause });
    }
  };
}

const unreadable =
  "The clock of this machine can't be read. To read it, petstock must create code at run time, which requires MemoryDenyWriteExecute=no in systemd, and 4 GB of address space (ulimit -v).";

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

/**
 * The C library of a system, and the number of its clock: CLOCK_MONOTONIC on Linux, and CLOCK_MONOTONIC_RAW
 * (`mach_continuous_time`) on macOS. A library that the system does not know would be searched for in the current
 * folder, where anyone may be able to write, so this name must always exist. musl provides it, too.
 */
const clocks: Partial<Record<NodeJS.Platform, { readonly library: string; readonly id: number }>> = {
  linux: { library: 'libc.so.6', id: 1 },
  darwin: { library: '/usr/lib/libSystem.B.dylib', id: 4 },
};

function clockGettime(ffi: Ffi, platform: NodeJS.Platform): () => bigint {
  const clock = clocks[platform];
  if (clock === undefined) throw new Error(`No C library is known for ${platform}`);
  const { symbols } = ffi.dlopen(clock.library, { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } });
  // Seconds and nanoseconds; both have 64 bits on all processors that executables are built for.
  const time = new BigInt64Array(2);
  return () => {
    if (symbols.clock_gettime(clock.id, time) !== 0) throw new Error('clock_gettime has failed');
    return (time[0] ?? 0n) * billion + (time[1] ?? 0n);
  };
}

function performanceCounter(ffi: Ffi): () => bigint {
  const returnsBoolean = { args: ['ptr'], returns: 'i32' };
  const { symbols } = ffi.dlopen('kernel32.dll', {
    QueryPerformanceCounter: returnsBoolean,
    QueryPerformanceFrequency: returnsBoolean,
  });
  const value = new BigInt64Array(1);
  const frequency = new BigInt64Array(1);
  symbols.QueryPerformanceFrequency(frequency);
  return () => {
    symbols.QueryPerformanceCounter(value);
    return ((value[0] ?? 0n) * billion) / (frequency[0] ?? billion);
  };
}

/** The interface for calling system functions from an executable: https://bun.sh/docs/api/ffi */
interface Ffi {
  /** @throws if the library or the function does not exist, or if the system forbids code created at run time */
  dlopen<Name extends string>(
    library: string,
    functions: Readonly<Record<Name, { readonly args: readonly string[]; readonly returns: string }>>,
  ): { readonly symbols: Readonly<Record<Name, (...values: readonly unknown[]) => number>> };
}
