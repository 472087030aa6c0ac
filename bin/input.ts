import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Input } from '../src/cli/context.ts';
import { type Interruption, isGone } from './interruption.ts';
import { isNullDevice } from './output.ts';

type Stdin = Readable & { readonly isTTY?: boolean; readonly fd?: number; setRawMode?(raw: boolean): unknown };

/**
 * Returns the input of this process.
 * @param stream opens stdin, which takes Node a millisecond or two: it is called once something is read or asked
 */
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
 * Yields what comes in, a piece at a time: the next is not taken from the system before it is asked for, so that a process that is killed
 * has nothing in its hands. Whoever stops reading leaves the rest where it is, such as the answer to a question.
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
    // What was typed so far is not all of it, though no Ctrl-D has ended it.
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

/** The same in raw mode, in which Ctrl-C is a character. It begins at once: whoever is asked to type may be a scanner. */
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
    // A terminal that is gone has no mode any more.
    if (!isGone(stream)) stream.setRawMode?.(false);
  }
}

/** Ctrl-C, and the end (ETX) of a code that a scanner begins with an STX. */
const [stx, ctrlC] = [0x02, 0x03];

/** Returns what looks for Ctrl-C in keys, of which a code may be cut in two. */
function ctrlCFinder(): (keys: Uint8Array) => boolean {
  /** How many characters of a code in a frame have come; undefined outside of one. */
  let framed: number | undefined;
  return (keys) => {
    let isPressed = false;
    for (const key of keys) {
      // A frame of nothing is Ctrl-B and Ctrl-C.
      if (key === ctrlC && !framed) isPressed = true;
      framed = key === stx ? 0 : key === ctrlC || framed === undefined ? undefined : framed + 1;
    }
    return isPressed;
  };
}

/** Node's stream knows for certain, and takes 3 ms to load if it is that of a file. */
function mayBeTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && !isNullDevice(stats);
  } catch {
    return true;
  }
}
