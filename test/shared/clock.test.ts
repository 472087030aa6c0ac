import { expect, test } from 'vitest';
import { createSystemClock, machineTime, type Runtime } from '../../src/shared/clock.ts';
import { FailureError } from '../../src/shared/errors.ts';

/** A runtime whose clock counts from the start of each process, like bun's. */
function bun(
  platform: NodeJS.Platform,
  libraries: Readonly<Record<string, Record<string, unknown>>>,
  asked: string[] = [],
): Runtime {
  const dlopen = (library: string) => {
    asked.push(library);
    const symbols = libraries[library];
    if (symbols === undefined) throw new Error(`Failed to open library "${library}"`);
    return { symbols };
  };
  return {
    platform,
    versions: { bun: '1.4.4', node: '26.3.0' },
    hrtime: { bigint: () => 5n },
    getBuiltinModule: (name) => (name === 'bun:ffi' ? { dlopen } : undefined),
  };
}

const clockGettime = (wanted: number) => ({
  clock_gettime: (id: number, time: BigInt64Array) => {
    if (id !== wanted) return -1;
    time.set([16_679n, 947_976_068n]);
    return 0;
  },
});

test('returns the time of process.hrtime on Node', () => {
  const before = process.hrtime.bigint();
  const now = machineTime(process)();
  expect(now >= before && now <= process.hrtime.bigint()).toBe(true);
});

test.each([
  ['Linux, with glibc or musl', 'linux', 'libc.so.6', 1],
  ['macOS', 'darwin', '/usr/lib/libSystem.B.dylib', 4],
] as const)('returns the time of the machine in an executable for %s', (_what, platform, library, id) => {
  const time = machineTime(bun(platform, { [library]: clockGettime(id) }));
  expect(time()).toBe(16_679_947_976_068n);
});

test('returns the performance counter in nanoseconds in an executable for Windows', () => {
  const symbols = {
    QueryPerformanceCounter: (value: BigInt64Array) => value.set([166_799_479_760n]),
    QueryPerformanceFrequency: (value: BigInt64Array) => value.set([10_000_000n]),
  };
  expect(machineTime(bun('win32', { 'kernel32.dll': symbols }))()).toBe(16_679_947_976_000n);
});

test("throws if the machine's clock can't be read, instead of using the process's clock", () => {
  for (const libraries of [{}, { 'libc.so.6': clockGettime(99) }]) {
    expect(machineTime(bun('linux', libraries))).toThrow(FailureError);
  }
});

// A loader looks for a bare name in the current folder, too, and would run a file found there.
test.each([
  ['linux', 'libc.so.6'],
  ['darwin', '/usr/lib/libSystem.B.dylib'],
  ['win32', 'kernel32.dll'],
] as const)('tries only the library that exists on %s', (platform, library) => {
  const asked: string[] = [];
  expect(machineTime(bun(platform, {}, asked))).toThrow("The clock of this machine can't be read.");
  expect(asked).toEqual([library]);
});

test('rejects a sleep at once with the reason of its signal', async () => {
  const controller = new AbortController();
  const sleep = createSystemClock(process.hrtime.bigint).sleep(86_400_000, controller.signal);
  controller.abort(new Error('Ctrl-C'));
  await expect(sleep).rejects.toThrow('Ctrl-C');
});

test('calls back at a deadline, and does not take one years ahead for one that has passed', async () => {
  const clock = createSystemClock(process.hrtime.bigint);
  const passed: string[] = [];
  const far = clock.deadline(2 ** 40, () => passed.push('far'));
  await new Promise<void>((resolve) => void clock.deadline(2, resolve));
  far.clear();
  expect(passed).toEqual([]);
});
