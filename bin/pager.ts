import { type ChildProcess, spawn } from 'node:child_process';
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
