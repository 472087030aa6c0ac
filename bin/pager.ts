import { type ChildProcess, spawn } from 'node:child_process';
import type { Pager, PagerCommand } from '../src/cli/context.ts';
import { ClosedPipeError } from '../src/shared/errors.ts';

/** Matches a pager command that needs a shell; git runs any other command without one, and so does petstock. */
const forShell = /[|&;<>()$`\\"'\n*?[#~=%]/;
/** Like `forShell`, for Windows, where a backslash is part of a path. */
const forWindowsShell = /[|&<>()^"'%\n]/;
/** Exit codes of a shell that can't run a program, or can't find it. */
const notRun = [126, 127];
/** Exit codes of cmd.exe that can't run or find a program, from the command line and from a batch file. */
const notRunOnWindows = [1, 9009];

/** Starts a pager on the terminal of this process; see `Context.openPager`. */
export function openPager({ command, env }: PagerCommand, isWindows = process.platform === 'win32'): Pager {
  const needsShell = (isWindows ? forWindowsShell : forShell).test(command);
  const unfound = needsShell ? (isWindows ? notRunOnWindows : notRun) : [];
  const [program = '', ...args] = needsShell ? [command] : command.trim().split(/\s+/);
  const child = spawn(program, args, { env, stdio: ['pipe', 'inherit', 'inherit'], shell: needsShell });
  const { stdin } = child;
  // Each write reports its own errors.
  stdin.on('error', () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stdin.write(text, (cause) => {
          if (cause) reject(new ClosedPipeError('The pager has closed its input', { cause }));
          else resolve();
        });
      }),
    end: () => void stdin.end(),
    ended: endOf(child, unfound),
  };
}

/**
 * Resolves to `Pager.ended` when a pager has ended. Meanwhile, Ctrl-C does not end petstock, because the shell would
 * then take the terminal away from the pager. Ctrl-C reaches every process of the terminal: a pager handles it as a
 * command, for example to stop a search, and stays open.
 */
function endOf(child: ChildProcess, unfound: readonly number[]): Pager['ended'] {
  const stay = () => {};
  process.on('SIGINT', stay);
  return new Promise((resolve) => {
    const ended = (how: Awaited<Pager['ended']>) => {
      process.off('SIGINT', stay);
      resolve(how);
    };
    child.once('error', () => ended('missing'));
    // A pager that was ended by a signal has no code.
    child.once('exit', (code) => ended(code === 0 ? 'left' : unfound.includes(code ?? -1) ? 'missing' : 'failed'));
  });
}
