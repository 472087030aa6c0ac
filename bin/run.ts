import { hostname } from 'node:os';
import type { Transport, TransportOptions } from '../src/api/transport.ts';
import type { Context } from '../src/cli/context.ts';
import { main } from '../src/cli/main.ts';
import { endingSignalOf, exitCodes } from '../src/shared/errors.ts';
import { createInput } from './input.ts';
import { endBlocked, endWithTerminal, listenForInterruption, listenForSuspension } from './interruption.ts';
import { bestEffort, createOutput, openStderr } from './output.ts';
import { foldersOf } from './process-folders.ts';
import { createSystemClock } from './system-clock.ts';
import { withPlainParser } from './v8-flags.ts';

/** Runs the command line of this process, and returns the exit code. */
export async function run(): Promise<number> {
  // If nothing is left to wait for, Node exits in the middle of a command; that must not look like success.
  process.exitCode = exitCodes.failure;
  const env = { ...process.env };
  // Node warns on stderr if both are set.
  if (env.FORCE_COLOR !== undefined) delete process.env.NO_COLOR;
  // The terminal of an editor installed as a snap sets SNAP, and conf would then overwrite the configuration in place.
  delete process.env.SNAP;
  const interruption = listenForInterruption();
  const { signal: interrupted, onHangup } = interruption;
  const clock = createSystemClock();
  const stderr = bestEffort(createOutput(2, openStderr));
  const context: Context = {
    argv: process.argv.slice(2),
    env,
    stdin: createInput(() => process.stdin, interruption),
    stdout: createOutput(1, () => process.stdout),
    stderr,
    clock,
    openTransport,
    folders: foldersOf(env),
    openPager: async (command) => (await import('./pager.ts')).openPager(command),
    watchReader: async (onGone) => (await import('./reader.ts')).watchReader(1, onGone),
    self: { host: hostname(), pid: process.pid },
    prompts: latePrompts(interrupted),
    ...{ interrupted, onHangup },
    suspension: listenForSuspension(),
    random: Math.random,
  };
  const code = await main(context);
  // A closed terminal interrupts the command, or makes a question fail.
  if (interrupted.aborted || code === exitCodes.interrupted || code === exitCodes.failure) endWithTerminal();
  if (interrupted.aborted) {
    // Pending output or a blocked system call must not keep the process alive.
    const end = code === exitCodes.ok ? stderr.close : () => endBlocked(endingSignalOf(interrupted));
    setTimeout(end, 500).unref();
  }
  return code;
}

function openTransport(options: TransportOptions): Transport {
  // Loading starts at once, so that an admitted request does not wait for it.
  const opening = import('../src/api/undici.ts').then(({ createUndiciTransport }) => createUndiciTransport(options));
  // The first request rejects with the same error.
  opening.catch(() => {});
  return withPlainParser(async (request) => (await opening)(request));
}

/** Suspends this process, like Ctrl-Z at a terminal that is not in raw mode, until the shell continues it. */
async function suspend(): Promise<void> {
  if (process.platform === 'win32') return;
  const continued = new Promise((resolve) => process.once('SIGCONT', resolve));
  process.kill(process.pid, 'SIGTSTP');
  await continued;
}

/** Creates prompts that are loaded at the first question, because most commands ask none. */
function latePrompts(interrupted: AbortSignal): Context['prompts'] {
  const ask = async <Answer>(question: (prompts: Context['prompts']) => Promise<Answer>): Promise<Answer> => {
    const { createPrompts } = await import('../src/cli/prompts.ts');
    // Ctrl-D ended the stream, but not the terminal, so the terminal is reopened.
    const hasEnded = process.stdin.isTTY && process.stdin.readableEnded;
    const opened = hasEnded ? new (await import('node:tty')).ReadStream(0) : undefined;
    try {
      return await question(
        createPrompts({ input: opened ?? process.stdin, output: process.stderr, signal: interrupted, suspend }),
      );
    } finally {
      opened?.destroy();
    }
  };
  return {
    password: (text) => ask((prompts) => prompts.password(text)),
    confirm: (text, typed) => ask((prompts) => prompts.confirm(text, typed)),
    text: (text) => ask((prompts) => prompts.text(text)),
  };
}
