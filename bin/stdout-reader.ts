import { cFunctions, type Ffi } from '../src/shared/c-library.ts';

/** The numbers of WASI, preview 1. */
const stdout = 1;
const clockEvent = 0;
const writableEvent = 2;
const hangup = 1;
const subscriptionSize = 48;
const eventSize = 32;
/** Where events, and their number, are put in the memory: behind two subscriptions. */
const eventsAt = 2 * subscriptionSize;
const countAt = eventsAt + 2 * eventSize;

/** In nanoseconds: how long it may take to see that a pipe is full, and so has a reader. */
const longest = 5_000_000n;

/**
 * Creates a function that looks whether stdout, a pipe or a socket, still has a reader. Only the system's `poll` can see that without
 * writing. A look takes 20 µs.
 * @returns undefined where that can't be seen (Windows, a file)
 */
export async function createReaderLook(): Promise<(() => boolean) | undefined> {
  return process.versions.bun === undefined ? lookByWasi() : lookByLibrary();
}

/** Nothing else in Node calls `poll`. */
async function lookByWasi(): Promise<(() => boolean) | undefined> {
  try {
    const { poll, memory } = await openPoll();
    const look = () => {
      subscribe(memory);
      if (poll(0, eventsAt, 2, countAt) !== 0) return undefined;
      const count = memory.getUint32(countAt, true);
      const events = Array.from({ length: count }, (_, index) => eventsAt + index * eventSize);
      const isGone = (at: number) => memory.getUint16(at + 8, true) !== 0 || memory.getUint16(at + 24, true) === hangup;
      return !events.some((at) => memory.getUint8(at + 10) === writableEvent && isGone(at));
    };
    return look() === undefined ? undefined : () => look() ?? true;
  } catch {
    // It is marked experimental: should it be gone one day, the next write sees it.
    return undefined;
  }
}

/** Of poll.h. */
const pollOut = 0x4;
const pollErrorOrHangup = 0x8 | 0x10;

/** The runtime of the executables has no `poll` in its WASI, but it can call the C library that it runs on itself. */
function lookByLibrary(): (() => boolean) | undefined {
  try {
    const ffi = process.getBuiltinModule('bun:ffi') as unknown as Ffi;
    const { poll } = cFunctions(ffi, process.platform, { poll: { args: ['ptr', 'u64', 'i32'], returns: 'i32' } });
    // struct pollfd: int fd, short events, short revents. All systems with an executable are little-endian.
    const asked = new DataView(new ArrayBuffer(8));
    asked.setInt32(0, stdout, true);
    asked.setInt16(4, pollOut, true);
    return () => poll(asked, 1, 0) <= 0 || (asked.getInt16(6, true) & pollErrorOrHangup) === 0;
  } catch {
    // Windows, for one: the next write sees it.
    return undefined;
  }
}

/** The types of Node leave it to those of browsers. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};

type Poll = (subscriptions: number, events: number, most: number, count: number) => number;

async function openPoll(): Promise<{ readonly poll: Poll; readonly memory: DataView }> {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const wasi = await quietly(async () => {
    const { WASI } = await import('node:wasi');
    return new WASI({ version: 'preview1', stdout });
  });
  wasi.initialize({ exports: { memory } });
  return { poll: wasi.wasiImport.poll_oneoff as Poll, memory: new DataView(memory.buffer) };
}

/** Asks for two events: stdout takes more, or has no reader; the time is over. */
function subscribe(memory: DataView): void {
  memory.setUint8(8, writableEvent);
  memory.setUint32(16, stdout, true);
  memory.setUint8(subscriptionSize + 8, clockEvent);
  // The monotonic clock.
  memory.setUint32(subscriptionSize + 16, 1, true);
  memory.setBigUint64(subscriptionSize + 24, longest, true);
}

/** Node warns on stderr that WASI is experimental. */
async function quietly<Result>(load: () => Promise<Result>): Promise<Result> {
  const emit = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return await load();
  } finally {
    process.emitWarning = emit;
  }
}
