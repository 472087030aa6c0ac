import { writeSync } from 'node:fs';
import type { Context } from '../src/cli/context.ts';
import { type EndingSignal, InterruptedError } from '../src/shared/errors.ts';

/**
 * Ends the process by SIGHUP if its terminal is gone, as of a program that has no listener for it. On its way out Node 20 would try to
 * reset the mode of that terminal, and abort with a core dump (nodejs/node#51519).
 */
export function endWithTerminal(): void {
  if (![process.stdin, process.stdout, process.stderr].some(isGone)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** Ends an interrupted process that the system keeps in a call, such as the opening of a pipe without a writer: Node would wait for it. */
export function endBlocked(signal: EndingSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Reports whether a stream was that of a terminal, which was closed. */
export function isGone({ isTTY, fd = -1 }: { readonly isTTY?: boolean; readonly fd?: number }): boolean {
  return isTTY === true && !process.getBuiltinModule('node:tty').isatty(fd);
}

export interface Interruption extends Required<Pick<Context, 'onSecondInterrupt' | 'onHangup'>> {
  readonly signal: AbortSignal;
  /** As Ctrl-C does. */
  abort(): void;
}

/**
 * Aborted by the first Ctrl-C, Ctrl-Break or SIGTERM, and by SIGHUP: the terminal was closed, or the connection to it was lost. A second one is
 * left to the operating system, which ends the process at once; if a program reads stderr, an error is written to it first. But a closed
 * terminal sends SIGHUP more than once: from its shell, and from the system when that has ended.
 */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const abort = (signal: EndingSignal = 'SIGINT') => controller.abort(new InterruptedError('Interrupted', { signal }));
  let lastWords: ((signal: EndingSignal) => string) | undefined;
  let onHangup: (() => void) | undefined;
  // SIGBREAK is known to Windows alone; elsewhere it never comes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
    process.once(signal, () => {
      const ending = signal === 'SIGBREAK' ? 'SIGINT' : signal;
      abort(ending);
      const words = lastWords;
      if (words !== undefined) process.once(signal, () => endWith(words(ending), signal));
    });
  }
  process.on('SIGHUP', () => (onHangup === undefined ? abort('SIGHUP') : onHangup()));
  return {
    ...{ signal: controller.signal, abort: () => abort() },
    onSecondInterrupt: (words) => {
      lastWords = words;
    },
    onHangup: (listener) => {
      onHangup = listener;
    },
  };
}

/** Without its listener a signal does again what it does to every process. */
function endWith(words: string, signal: NodeJS.Signals): void {
  try {
    writeSync(process.stderr.fd, `${words}\n`);
  } catch {
    // A pipe that is full or has no reader: the exit code says it too.
  }
  process.kill(process.pid, signal);
}
