import { FailureError } from './errors.ts';

/** The part of bun's `process` that is used. */
export interface BunRuntime {
  readonly platform: NodeJS.Platform;
  getBuiltinModule(name: string): unknown;
}

/**
 * Returns the clock that `process.hrtime` reads in Node, in nanoseconds. Executables run on bun, whose `hrtime` counts
 * from the start of the process, so this function asks the system. The returned function throws FailureError if that
 * is impossible, because petstock could not use times that other processes have stored.
 */
export function bunClock(runtime: BunRuntime): () => bigint {
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
