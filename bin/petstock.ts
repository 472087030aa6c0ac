#!/usr/bin/env node
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { createUndiciTransport } from '../src/api/undici.ts';
import type { Input, Output } from '../src/context.ts';
import { ClosedPipeError, InterruptedError } from '../src/errors.ts';
import { main } from '../src/main.ts';
import { createPrompts } from '../src/prompts.ts';
import { resolveFolders } from '../src/settings/folders.ts';
import { createSystemClock } from '../src/system-clock.ts';

// On Node 20 the first request makes V8 optimise undici's HTTP parser (WebAssembly) in the background, and the exit
// waits about 80 ms for it. This flag takes that to 4 ms. It is not a stable interface: V8 ignores a flag it has dropped.
setFlagsFromString('--liftoff-only');

const { platform, stdin, stdout, stderr } = process;
const env = { ...process.env };
// Node warns on stderr where both are set, as they may be.
if (env.FORCE_COLOR !== undefined) delete process.env.NO_COLOR;
const interrupted = interruption();

process.exitCode = await main({
  argv: process.argv.slice(2),
  env,
  stdin: input(stdin),
  stdout: output(stdout),
  stderr: heedless(output(stderr)),
  clock: createSystemClock(),
  transport: createUndiciTransport(),
  // An empty or relative HOME would put keys into whatever folder this is.
  folders: resolveFolders({ env, platform, home: isAbsolute(homedir()) ? homedir() : userInfo().homedir }),
  processes: { pid: process.pid, isAlive },
  prompts: createPrompts({ input: stdin, output: stderr, signal: interrupted }),
  interrupted,
  random: Math.random,
});

/** Aborted by the first Ctrl-C or SIGTERM. A second one is left to the operating system: it ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new InterruptedError('Interrupted')));
  }
  return controller.signal;
}

function input(stream: Readable & { isTTY?: boolean }): Input {
  return {
    isTerminal: stream.isTTY === true,
    chunks: {
      async *[Symbol.asyncIterator]() {
        try {
          yield* addAbortSignal(interrupted, stream);
        } catch (error) {
          throw interrupted.aborted ? interrupted.reason : error;
        }
      },
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    // Signal 0 is not sent; it only asks whether it could be.
    return process.kill(pid, 0);
  } catch (error) {
    // One that belongs to somebody else runs, too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** stderr speaks to a person: where nobody reads it, the work goes on, and the exit code tells. */
function heedless(stream: Output): Output {
  return {
    isTerminal: stream.isTerminal,
    get columns() {
      return stream.columns;
    },
    write: (chunk) => stream.write(chunk).catch(() => {}),
  };
}

function output(stream: NodeJS.WriteStream): Output {
  // What goes wrong is told to each write; without a listener the event would end the process.
  stream.on('error', () => {});
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stream.write(chunk, (error) => {
          if (!error) resolve();
          else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new ClosedPipeError('No reader') : error);
        });
      }),
  };
}
