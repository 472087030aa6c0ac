import { createReadStream } from 'node:fs';
import type { FileProblems } from '../change-files/problems.ts';
import { grouped } from '../inventory/items.ts';
import { readErrorReason, systemCode, systemFailureText, UsageError } from '../shared/errors.ts';
import { capitalized } from '../shared/parsed.ts';
import type { Context } from './context.ts';

/**
 * Yields the bytes of a file that the user named; `-` is stdin.
 * @param nothing the clause to append to a message as a sentence, such as `nothing was sent`
 * @throws UsageError if the file can't be read; the reason of an interruption
 */
export async function* readNamedFile(
  file: string,
  { stdin, interrupted }: Pick<Context, 'stdin' | 'interrupted'>,
  nothing?: string,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* file === '-' ? stdin.chunks : readInput(file, interrupted);
  } catch (cause) {
    const code = systemCode(cause) ?? '';
    // An error that is not about this file, such as a failing disk, is reported as it is.
    if (!/^E[A-Z]+$/.test(code) || systemFailureText(cause) !== undefined) throw cause;
    throw new UsageError(`${unreadableText(file, code, cause)}${endOf(nothing)}`, { cause });
  }
}

/** The size of one piece of a file, in bytes. */
const pieceSize = 256 * 1024;

/**
 * Yields the bytes of a file or a pipe. An interruption ends the reading even while the system blocks, as with a pipe
 * without a writer.
 */
async function* readInput(path: string, interrupted: AbortSignal): AsyncGenerator<Uint8Array, void> {
  interrupted.throwIfAborted();
  const stream = createReadStream(path, { highWaterMark: pieceSize });
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const { done, value } = await orInterrupted(pieces.next(), interrupted);
      if (done) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}

function unreadableText(file: string, code: string, cause: unknown): string {
  if (file === '') return 'The file name is empty';
  if (code === 'ENOENT') return `There is no file ${file}`;
  return `${file === '-' ? 'stdin' : file} can't be read: ${readErrorReason(cause)}`;
}

/**
 * Creates an error that lists problems of a file.
 * @param nothing as in `readNamedFile`
 */
export function faultyFile(
  file: string,
  { problems, total, unit }: Omit<FileProblems, 'remedy'>,
  nothing: string | undefined,
  hint?: string,
): UsageError {
  const name = file === '-' ? 'stdin' : file;
  const count = total === 1 ? 'an error' : `${grouped(total)} errors`;
  const lines = problems.map(
    ({ line, column, message }) => `${unit} ${line}${column ? `, ${column}` : ''}: ${message}`,
  );
  const named = total > problems.length ? ` (the first ${grouped(problems.length)} are listed)` : '';
  const message = `${name} has ${count}${named}${endOf(nothing)}`;
  return new UsageError(message, { lines, faults: problems, faultCount: total, hint });
}

function endOf(nothing: string | undefined): string {
  return nothing === undefined ? '' : `. ${capitalized(nothing)}`;
}

/**
 * Waits for `work`, but not after an interruption: `work` then continues, and its result is ignored.
 * @throws errors of `work`; the reason of the interruption
 */
export function orInterrupted<T>(work: Promise<T>, interrupted: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(interrupted.reason);
    interrupted.addEventListener('abort', stop, { once: true });
    if (interrupted.aborted) stop();
    work.then(resolve, reject).finally(() => interrupted.removeEventListener('abort', stop));
  });
}
