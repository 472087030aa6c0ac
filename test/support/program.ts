import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { inject, onTestFailed, onTestFinished, vi } from 'vitest';
import { type ServiceOptions, startService } from '../../src/service/index.ts';
import { newFolder } from './new-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folders of a user who has never run the program. */
export interface Home {
  readonly folder: string;
  readonly config: string;
  readonly state: string;
}

export interface ProgramOptions {
  /** Default: a new home. Commands with the same home share settings and state. */
  readonly home?: Home | undefined;
  /** Variables that are added to PATH, TZ, a home, folders and a locale. A variable that is undefined is removed. */
  readonly env?: Environment | undefined;
  /** The content of stdin. If absent, stdin ends at once; with `open`, stdin stays open for `type()`. */
  readonly stdin?: string | { readonly open: true } | undefined;
  /**
   * Runs the program on a pseudo-terminal with this many columns. Its whole output is in `stdout`, and stdin stays
   * open. Needs `script` of util-linux, which is in the essential package bsdutils of Debian and Ubuntu.
   */
  readonly terminal?: number | undefined;
  /** A command that is given the program and its arguments: `['sh', '-c', 'umask 0; exec "$@"', 'sh']`. */
  readonly through?: readonly string[] | undefined;
}

export interface ProgramResult {
  /** null if a signal ended the program. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Program = ReturnType<typeof startProgram>;

/**
 * Runs the built program until it exits.
 * @param command a command line that is split at spaces, or the arguments themselves
 */
export function runProgram(command: string | readonly string[], options?: ProgramOptions): Promise<ProgramResult> {
  return startProgram(command, options).result;
}

/** Returns the command that runs the built program. */
export function programCommand(): readonly string[] {
  return [process.execPath, inject('program')];
}

/**
 * Starts the built program, which is killed when the test is finished. If the test fails, the program's output is
 * printed.
 */
export function startProgram(command: string | readonly string[], options: ProgramOptions = {}) {
  const words = typeof command === 'string' ? command.split(' ').filter((word) => word !== '') : command;
  const { stdin, terminal, through = [] } = options;
  const direct = [...through, ...programCommand(), ...words];
  const [file = '', ...args] = terminal === undefined ? direct : onTerminal(direct, terminal);
  // The program gets a process group of its own, so that `killGroup()` also ends everything that it has started.
  const child = spawn(file, args, { env: environment(options), stdio: 'pipe', detached: true });
  const pid = child.pid ?? 0;
  onTestFinished(() => killGroup(pid));
  // The program may end before it has read all of its stdin.
  child.stdin.on('error', () => {});
  if (typeof stdin !== 'object' && terminal === undefined) child.stdin.end(stdin);
  const stdout = collect(child, child.stdout);
  const stderr = collect(child, child.stderr);
  const output = { stdout, stderr };
  onTestFailed(() => {
    const how = `${child.exitCode ?? child.signalCode ?? 'still running'}`;
    const shown = [`\n$ petstock ${words.join(' ')}`, stdout.text(), '--- stderr', stderr.text(), `--- exit ${how}`];
    process.stderr.write(`${shown.map((text) => text.slice(0, 4000).trimEnd()).join('\n')}\n`);
  });
  return {
    pid,
    result: new Promise<ProgramResult>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout.text(), stderr: stderr.text() }));
    }),
    /**
     * Resolves with the output so far once it contains the text.
     * @throws Error if the program ends without printing it
     */
    until: (stream: 'stdout' | 'stderr', text: string) => output[stream].until(text),
    type: (text: string) => void child.stdin.write(text),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Closes our end of the stream, as `head` does. */
    hangUp: (stream: 'stdout' | 'stderr') => void child[stream].destroy(),
  };
}

function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

function onTerminal(command: readonly string[], columns: number): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['script', '-qfec', `stty cols ${columns} rows 24; exec ${quoted}`, '/dev/null'];
}

/** Returns the program's environment. From this process, it has only PATH and TZ. */
function environment({ home = temporaryHome(), env }: ProgramOptions): NodeJS.ProcessEnv {
  const { PATH, TZ } = process.env;
  return {
    PATH,
    TZ,
    LANG: 'C.UTF-8',
    // A pager would wait for someone to quit it.
    PAGER: 'cat',
    TERM: 'xterm-256color',
    HOME: home.folder,
    // Notes are tested where they are printed, which is not only on a terminal with this variable.
    PETSTOCK_VERBOSE: 'true',
    PETSTOCK_CONFIG_DIR: home.config,
    PETSTOCK_STATE_DIR: home.state,
    // Rate-limit gates of other programs on this machine must not affect the test.
    TMPDIR: home.folder,
    // Otherwise, every program that starts first in its home would write the code cache.
    ...(process.platform === 'linux' ? { XDG_CACHE_HOME: inject('cache') } : { PETSTOCK_NO_CACHE: '1' }),
    ...env,
  };
}

/**
 * Returns a home whose configuration and state folders don't exist yet. The home is removed when the test is finished.
 */
export function temporaryHome(): Home {
  const folder = newFolder();
  return { folder, config: join(folder, 'config'), state: join(folder, 'state') };
}

function collect(child: ChildProcess, stream: Readable) {
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString('utf8');
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const until = (wanted: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (text().includes(wanted)) finish(() => resolve(text()));
      };
      const fail = () => finish(() => reject(new Error(`the program ended without "${wanted}"`)));
      const finish = (end: () => void) => {
        stream.off('data', look);
        child.off('close', fail);
        end();
      };
      stream.on('data', look);
      child.once('close', fail);
      look();
    });
  return { text, until };
}

/**
 * Starts `petstock sandbox serve` in a process of its own, on a free port, with the stock in memory.
 * @param args further options, such as `--fault` and its value
 */
export async function serveProgram(args: readonly string[] = [], options?: ProgramOptions) {
  const standard = 'sandbox serve --port 0 --file :memory: --json'.split(' ');
  const program = startProgram([...standard, ...args], { home: temporaryHome(), ...options });
  const { url, key }: Readonly<Record<'url' | 'key', string>> = JSON.parse(await program.until('stdout', '\n'));
  return { url, key, program };
}

export type Served = Awaited<ReturnType<typeof serve>>;

/**
 * Starts a service in this process, for programs. It records its requests, and stops when the test is finished.
 */
export async function serve(options: Partial<ServiceOptions> = {}) {
  const service = await startService({ clock: Date, recordsRequests: true, ...options });
  onTestFinished(() => service.close());
  return {
    ...service,
    env: { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key },
    /** Resolves once the service has received this many requests, whether or not it has responded. */
    untilSeen: (requests: number) =>
      vi.waitFor(
        () => {
          const { length } = service.journal();
          if (length < requests) throw new Error(`the service has seen ${length} requests, not ${requests}`);
        },
        { timeout: 30_000, interval: 5 },
      ),
  };
}
