import { fstatSync, type Stats, statSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { devNull } from 'node:os';
import type { Output } from '../src/cli/context.ts';
import { ClosedPipeError } from '../src/shared/errors.ts';

/**
 * Makes each write to stderr succeed. If stderr has no reader, the command continues, and its exit code is the result.
 */
export function bestEffort<Kind extends Output>(stream: Kind): Kind {
  const { write } = stream;
  return Object.assign(stream, { write: (chunk: string | Uint8Array) => write(chunk).catch(() => {}) });
}

/**
 * Opens stderr as a stream whose pending output can be dropped. Node waits until `process.stderr` is written out, so a
 * pipe is opened a second time. `process.stderr` is opened first: Node needs it when a socket is closed, and can't open
 * it while the second stream is full.
 */
export function openStderr(): OutputStream {
  const { stderr } = process;
  const { Socket } = process.getBuiltinModule('node:net');
  return stderr.isTTY || !(stderr instanceof Socket) ? stderr : new Socket({ fd: 2, readable: false });
}

type OutputStream = Socket & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export interface ClosableOutput extends Output {
  /** Closes the output, and drops the text that was not yet written. Does nothing for a file. */
  close(): void;
}

/** @param open opens the stream; not called for a file, because Node takes a millisecond or two for it */
export function createOutput(descriptor: number, open: () => OutputStream): ClosableOutput {
  if (isFile(descriptor)) {
    const write = async (chunk: string | Uint8Array) => writeAll(descriptor, chunk);
    return { isTerminal: false, columns: undefined, write, close: () => {} };
  }
  let opened: OutputStream | undefined;
  const stream = () => {
    // Each write reports its own errors; without a listener the event would end the process.
    opened ??= open().on('error', () => {});
    return opened;
  };
  return {
    get isTerminal() {
      return stream().isTTY === true;
    },
    // A terminal whose size was never set reports 0 (`docker run -t`, `expect`).
    get columns() {
      return stream().columns || undefined;
    },
    get rows() {
      return stream().rows || undefined;
    },
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stream().write(chunk, (error) => {
          if (!error) resolve();
          else reject(isClosed(error, stream().isTTY === true) ? new ClosedPipeError('No reader') : error);
        });
      }),
    close: () => void opened?.destroy(),
  };
}

/**
 * Reports whether the output is a file or the null device. For these, Node's stream would only call `writeSync`, and
 * takes 9 M instructions to load, a ninth of the start of Node itself.
 */
function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || isNullDevice(stats);
  } catch {
    return false;
  }
}

/** Reports whether a file is the null device. False on Windows, which has no device numbers. */
export function isNullDevice({ rdev }: Stats): boolean {
  return rdev !== 0 && rdev === statSync(devNull).rdev;
}

function writeAll(descriptor: number, chunk: string | Uint8Array): void {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Reports whether the reader of a stream is gone. A write to a closed terminal fails with EIO. */
export function isClosed(error: NodeJS.ErrnoException, isTerminal: boolean): boolean {
  return error.code === 'EPIPE' || (isTerminal && error.code === 'EIO');
}
