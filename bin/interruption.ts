import type { Context } from '../src/cli/context.ts';
import { type EndingSignal, InterruptedError } from '../src/shared/errors.ts';
import type { Suspension } from '../src/writes/write-context.ts';

/**
 * Ends the process with SIGHUP if its terminal was closed, like a program without a listener for it. Otherwise Node 20
 * would try to reset the terminal's mode on exit, and abort with a core dump (nodejs/node#51519).
 */
export function endWithTerminal(): void {
  if (![process.stdin, process.stdout, process.stderr].some(isGone)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/**
 * Ends an interrupted process that is blocked in a system call, such as opening a pipe without a writer. Node would
 * wait for the call.
 */
export function endBlocked(signal: EndingSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Reports whether a stream belonged to a terminal that was closed. */
export function isGone({ isTTY, fd = -1 }: { readonly isTTY?: boolean; readonly fd?: number }): boolean {
  return isTTY === true && !process.getBuiltinModule('node:tty').isatty(fd);
}

/** `timeout` and npm pass on a signal that this process has just got with its group, within this many milliseconds. */
const repeatedWithin = 500;

export interface Interruption extends Pick<Context, 'onHangup'> {
  readonly signal: AbortSignal;
  /** Aborts the signal, like the first Ctrl-C. */
  abort(): void;
}

/**
 * Creates a signal that is aborted by the first Ctrl-C, Ctrl-Break or SIGTERM, and by SIGHUP (the terminal was closed,
 * or its connection was lost) unless `onHangup` has set a listener. The operating system handles the second signal of
 * the same kind and ends the process at once. A second SIGHUP is ignored, because a closed terminal sends several: its
 * shell sends one, and the system another.
 */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const abort = (signal: EndingSignal = 'SIGINT') => controller.abort(new InterruptedError('Interrupted', { signal }));
  let onHangup: (() => void) | undefined;
  // SIGBREAK exists only on Windows; on other systems it never arrives.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
    process.once(signal, () => {
      abort(signal === 'SIGBREAK' ? 'SIGINT' : signal);
      const ignore = () => {};
      process.on(signal, ignore);
      setTimeout(() => process.off(signal, ignore), repeatedWithin).unref();
    });
  }
  process.on('SIGHUP', () => (onHangup === undefined ? abort('SIGHUP') : onHangup()));
  return {
    ...{ signal: controller.signal, abort: () => abort() },
    onHangup: (listener) => {
      onHangup = listener;
    },
  };
}

/** Listens for Ctrl-Z while something has to be released first; otherwise the system stops the process at once. */
export function listenForSuspension(): Suspension {
  const releases = new Set<() => Promise<void>>();
  const onStop = async () => {
    await Promise.allSettled([...releases].map((release) => release()));
    process.kill(process.pid, 'SIGSTOP');
  };
  return {
    add: (release) => {
      if (process.platform === 'win32') return () => {};
      if (releases.size === 0) process.on('SIGTSTP', onStop);
      releases.add(release);
      return () => {
        releases.delete(release);
        if (releases.size === 0) process.off('SIGTSTP', onStop);
      };
    },
  };
}
