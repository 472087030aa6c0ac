import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Input } from '../src/cli/context.ts';
import { type Interruption, isGone } from './interruption.ts';
import { isNullDevice } from './output.ts';

type Stdin = Readable & { readonly isTTY?: boolean; readonly fd?: number; setRawMode?(raw: boolean): unknown };

/** @param stream opens stdin; called only when needed, because Node takes a millisecond or two for it */
export function createInput(stream: () => Stdin, interruption: Interruption): Input {
  return {
    get isTerminal() {
      return mayBeTerminal(0) && stream().isTTY === true;
    },
    chunks: { [Symbol.asyncIterator]: () => chunksOf(stream(), interruption) },
    keys: () => keysOf(stream(), interruption),
    descriptor: 0,
  };
}

/**
 * Yields the input in chunks. Each chunk is read from the system only when it is requested, so a process that is killed
 * loses no input. If the reader stops early, the rest stays unread, for example for a question.
 */
async function* chunksOf(stream: Stdin, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
  const interrupted = interruption.signal;
  let arrived: Uint8Array[] = [];
  let failure: unknown;
  let ended = stream.readableEnded || stream.destroyed;
  let wake = (): void => {};
  const onData = (chunk: Uint8Array) => {
    stream.pause();
    arrived.push(chunk);
    wake();
  };
  const onEnd = () => {
    // If the terminal was closed, the input typed so far is incomplete.
    if (isGone(stream)) interruption.abort();
    ended = true;
    wake();
  };
  const fail = (reason: unknown) => {
    failure ??= reason;
    wake();
  };
  const onAbort = () => fail(interrupted.reason);
  stream.on('end', onEnd).on('close', onEnd).on('error', fail);
  interrupted.addEventListener('abort', onAbort);
  if (interrupted.aborted) onAbort();
  try {
    stream.on('data', onData);
    while (failure === undefined && (arrived.length > 0 || !ended)) {
      const chunks = arrived;
      arrived = [];
      yield* chunks;
      if (arrived.length > 0 || ended || failure !== undefined) continue;
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      stream.resume();
      await woken;
    }
    if (failure !== undefined) throw failure;
  } finally {
    interrupted.removeEventListener('abort', onAbort);
    stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', fail).pause();
  }
}

/**
 * Like `chunksOf`, but in raw mode, where Ctrl-C arrives as a character. Raw mode begins before the first read, because
 * a scanner may already be sending.
 */
function keysOf(stream: Stdin, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
  stream.setRawMode?.(true);
  return rawKeysOf(stream, interruption);
}

async function* rawKeysOf(stream: Stdin, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
  const hasCtrlC = ctrlCFinder();
  try {
    for await (const chunk of chunksOf(stream, interruption)) {
      if (hasCtrlC(chunk)) interruption.abort();
      yield chunk;
    }
  } finally {
    // A closed terminal has no mode to restore.
    if (!isGone(stream)) stream.setRawMode?.(false);
  }
}

/** Ctrl-C is the same character as ETX, which ends a code that a scanner starts with STX. */
const [stx, ctrlC] = [0x02, 0x03];

/** Creates a function that reports whether keys contain Ctrl-C. A scanned code may be split between two calls. */
function ctrlCFinder(): (keys: Uint8Array) => boolean {
  /** Number of characters read inside a frame; undefined outside of one. */
  let framed: number | undefined;
  return (keys) => {
    let isPressed = false;
    for (const key of keys) {
      // An empty frame is not a code: Ctrl-B and then Ctrl-C were pressed.
      if (key === ctrlC && !framed) isPressed = true;
      framed = key === stx ? 0 : key === ctrlC || framed === undefined ? undefined : framed + 1;
    }
    return isPressed;
  };
}

/**
 * Reports whether a descriptor may be a terminal. Only Node's stream knows for certain, but it takes 3 ms to load for a
 * file.
 */
function mayBeTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && !isNullDevice(stats);
  } catch {
    return true;
  }
}
