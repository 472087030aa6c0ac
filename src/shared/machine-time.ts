/** What is used of the process. */
export interface Runtime {
  readonly platform: NodeJS.Platform;
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly hrtime: { bigint(): bigint };
  getBuiltinModule(name: string): unknown;
}

/**
 * Nanoseconds since some moment that is the same for all processes of this machine, whatever they run on; they go on where
 * the wall clock is set. Node has that; bun, which executables run on, counts from the start of the process, so there the
 * system is asked for the clock that Node reads.
 *
 * @throws where bun can't ask the system: the times of other processes would mean something else
 */
export function machineTime(runtime: Runtime): () => bigint {
  if (runtime.versions.bun === undefined) return runtime.hrtime.bigint;
  const ffi = runtime.getBuiltinModule('bun:ffi') as Ffi;
  return runtime.platform === 'win32' ? performanceCounter(ffi) : clockGettime(ffi, runtime.platform);
}

/** https://bun.sh/docs/api/ffi */
interface Ffi {
  dlopen<Name extends string>(
    library: string,
    functions: Readonly<Record<Name, { readonly args: readonly string[]; readonly returns: string }>>,
  ): { readonly symbols: Readonly<Record<Name, (...values: readonly unknown[]) => number>> };
}

const billion = 1_000_000_000n;

/** CLOCK_MONOTONIC of Linux; CLOCK_MONOTONIC_RAW of macOS, which is `mach_continuous_time`. */
const clockIds: Partial<Record<NodeJS.Platform, number>> = { linux: 1, darwin: 4 };

/** The C library of glibc, of musl on each processor, and of macOS. */
const libraries = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1', 'libSystem.B.dylib'];

function clockGettime(ffi: Ffi, platform: NodeJS.Platform): () => bigint {
  const { symbols } = firstOf(libraries, (library) =>
    ffi.dlopen(library, { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } }),
  );
  const id = clockIds[platform];
  // Seconds and nanoseconds, both of 64 bits on the processors that there are executables for.
  const time = new BigInt64Array(2);
  return () => {
    if (symbols.clock_gettime(id, time) !== 0) throw new Error('The monotonic clock of this machine cannot be read');
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

/** @throws what the last one throws */
function firstOf<Item, Result>([item, ...others]: readonly Item[], attempt: (item: Item) => Result): Result {
  try {
    return attempt(item as Item);
  } catch (error) {
    if (others.length === 0) throw error;
    return firstOf(others, attempt);
  }
}
