import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../shared/clock.ts';
import { AuthError } from '../shared/errors.ts';
import { parseCommandLine } from './command-line.ts';
import { parseKey } from './keys.ts';
import type { KeyCommand } from './settings.ts';
import { type Environment, withoutSecrets } from './variables.ts';

export interface KeyCommandOptions {
  readonly env: Environment;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  /** For the error: which command stores another one. */
  readonly hint: string;
}

/** A person may have to unlock a keyring, or touch a security key. In milliseconds. */
const longestRun = 60_000;
/** Far more than any key. */
const mostBytes = 64 * 1024;

/**
 * Runs the command that prints a key, as `credential_process` of the AWS command line: stdout is the key, stderr is not shown,
 * stdin is empty. It has this process's variables without those that hold secrets of petstock.
 *
 * @throws AuthError that names the command and never shows what it printed; InterruptedError on Ctrl-C
 */
export async function runKeyCommand(key: KeyCommand, options: KeyCommandOptions): Promise<string> {
  const { interrupted, hint } = options;
  interrupted.throwIfAborted();
  const fail = (words: string, cause?: unknown) =>
    new AuthError(`The key command ${words}: ${key.command}. Nothing was sent`, { hint, cause });
  const end = await finished(start(key, options, fail), options);
  if (interrupted.aborted) throw interrupted.reason;
  if (end.fault !== undefined) throw fail(end.fault, end.cause);
  const parsed = parseKey(end.output);
  if (!parsed.ok) throw fail(`printed something that is not a key (${parsed.fault})`);
  return parsed.value;
}

function start(key: KeyCommand, { env }: KeyCommandOptions, fail: (words: string) => AuthError): ChildProcess {
  const options = { env: withoutSecrets(env), stdio: ['ignore', 'pipe', 'ignore'] as const, windowsHide: true };
  if (key.shell) return spawn(key.command, { ...options, stdio: [...options.stdio], shell: true });
  const words = parseCommandLine(key.command);
  if (!words.ok) throw fail(`cannot be run (${words.fault})`);
  const [program = '', ...args] = words.value;
  return spawn(program, args, { ...options, stdio: [...options.stdio], shell: false });
}

interface RunEnd {
  readonly output: string;
  /** `ended with exit code 1`; undefined: it went well. */
  readonly fault?: string;
  readonly cause?: unknown;
}

function finished(child: ChildProcess, { clock, interrupted }: KeyCommandOptions): Promise<RunEnd> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let fault: string | undefined;
  const stop = (words: string) => {
    fault ??= words;
    child.kill('SIGKILL');
    // What it has started may hold its stdout open.
    child.stdout?.destroy();
  };
  const onInterrupt = () => stop('was interrupted');
  interrupted.addEventListener('abort', onInterrupt, { once: true });
  const deadline = clock.deadline(longestRun, () => stop(`did not end within ${longestRun / 1000} s`));
  child.stdout?.on('data', (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > mostBytes) stop('printed more than a key can have');
  });
  return new Promise((resolve) => {
    const ended = (end: Partial<RunEnd>) => {
      deadline.clear();
      interrupted.removeEventListener('abort', onInterrupt);
      resolve({ output: Buffer.concat(pieces).toString('utf8'), ...end });
    };
    child.on('error', (cause: NodeJS.ErrnoException) =>
      ended({ fault: cause.code === 'ENOENT' ? 'names a program that does not exist' : 'could not be started', cause }),
    );
    child.on('close', (code, signal) => {
      const words = fault ?? (signal === null ? exitFault(code) : `was ended by ${signal}`);
      ended(words === undefined ? {} : { fault: words });
    });
  });
}

function exitFault(code: number | null): string | undefined {
  return code === 0 ? undefined : `ended with exit code ${code}`;
}
