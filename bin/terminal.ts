import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';
import type { Pager, PagerCommand } from '../src/cli/context.ts';
import { ClosedPipeError } from '../src/shared/errors.ts';

/** As git has it: what holds none of these is run without a shell. Paths of Windows have backslashes. */
const forShell = /[|&;<>()$`\\"'\n*?[#~=%]/;
const forWindowsShell = /[|&<>()^"'%\n]/;
/** What a shell ends with when it can't run a program, and when it can't find it. */
const notRun = [126, 127];
/** The same of cmd.exe, and of a batch file in it. */
const notRunOnWindows = [1, 9009];

/** Starts a pager on the terminal of this process, as the context says. */
export function openPager({ command, env }: PagerCommand, isWindows = process.platform === 'win32'): Pager {
  const needsShell = (isWindows ? forWindowsShell : forShell).test(command);
  const unfound = needsShell ? (isWindows ? notRunOnWindows : notRun) : [];
  const [program = '', ...args] = needsShell ? [command] : command.trim().split(/\s+/);
  const child = spawn(program, args, { env, stdio: ['pipe', 'inherit', 'inherit'], shell: needsShell });
  const { stdin } = child;
  // Each write reports what goes wrong.
  stdin.on('error', () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stdin.write(text, (cause) => {
          if (cause) reject(new ClosedPipeError('The pager takes no more', { cause }));
          else resolve();
        });
      }),
    end: () => void stdin.end(),
    ended: endOf(child, unfound),
  };
}

/**
 * Ctrl-C goes to all that is on the terminal. A pager takes it as an order of its own, such as to give up a search, and
 * stays: it would be left with a terminal that the shell has taken back.
 */
function endOf(child: ChildProcess, unfound: readonly number[]): Promise<'left' | 'missing'> {
  const stay = () => {};
  process.on('SIGINT', stay);
  return new Promise((resolve) => {
    const ended = (how: 'left' | 'missing') => {
      process.off('SIGINT', stay);
      resolve(how);
    };
    child.once('error', () => ended('missing'));
    child.once('exit', (code) => ended(unfound.includes(code ?? 0) ? 'missing' : 'left'));
  });
}

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
