import { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';

/** The part of bun's own interface that is used here. */
interface Bun {
  file(descriptor: number): { stream(): Parameters<typeof Readable.fromWeb>[0] };
}

/**
 * Opens the terminal behind stdin anew, after Ctrl-D has ended stdin.
 *
 * bun reads a `ReadStream` of a terminal in a thread, where nothing can stop it: it would take what is typed after the
 * question, and the process would not end before that. Its own streams wait for the terminal without a thread.
 */
export function openTerminalAgain(): Readable {
  const { Bun: bun } = globalThis as { readonly Bun?: Bun };
  if (bun === undefined) return new ReadStream(0);
  const setRawMode = (mode: boolean) => process.stdin.setRawMode(mode);
  return Object.assign(Readable.fromWeb(bun.file(0).stream()), { isTTY: true, setRawMode });
}
