import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { inject, onTestFailed, onTestFinished } from 'vitest';
import type { JournalEntry } from '../../src/service/journal.ts';
import { newFolder } from './new-folder.ts';
import { until } from './scripted-service.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A folder of its own to live in: the home of a user who has never run the program. */
export interface Home {
  readonly folder: string;
  readonly config: string;
  readonly state: string;
}

export interface ProgramOptions {
  /** Default: a fresh one. Give the same to commands that are to share settings and state. */
  readonly home?: Home | undefined;
  /** On top of a bare environment: PATH, a home, folders, a locale. Undefined takes a variable away. */
  readonly env?: Environment | undefined;
  /** The content of stdin; default: it ends at once; `open`: it stays open, and the test types. */
  readonly stdin?: string | { readonly open: true } | undefined;
  /**
   * Runs it on a pseudo-terminal of this width, whose output is all in `stdout`; stdin stays open. Takes `script` of
   * util-linux, which is in Debian's and Ubuntu's essential package bsdutils.
   */
  readonly terminal?: number | undefined;
  /** A command that is given the program and its arguments: `['sh', '-c', 'umask 0; exec "$@"', 'sh']`. */
  readonly through?: readonly string[] | undefined;
}

export interface ProgramResult {
  /** null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program while it runs. */
export type Program = ReturnType<typeof startProgram>;

/** Runs the built program to its end, with the words of a command line or with the arguments as they are. */
export function runProgram(command: string | readonly string[], options?: ProgramOptions): Promise<ProgramResult> {
  return startProgram(command, options).result;
}

/** Whether Node runs the tested program: an executable has a runtime of its own. */
export const isScript = /\.c?js$/.test(inject('program') ?? '');

/** The command that runs the built program. */
export function programCommand(): readonly string[] {
  return isScript ? [process.execPath, inject('program')] : [inject('program')];
}

/** Starts the built program. It is shown when the test fails, and gone when the test is finished. */
export function startProgram(command: string | readonly string[], options: ProgramOptions = {}) {
  const words = typeof command === 'string' ? command.split(' ').filter((word) => word !== '') : command;
  const { stdin, terminal, through = [] } = options;
  const direct = [...through, ...programCommand(), ...words];
  const [file = '', ...args] = terminal === undefined ? direct : onTerminal(direct, terminal);
  // In a process group of its own, so that nothing that it started survives it.
  const child = spawn(file, args, { env: environment(options), stdio: 'pipe', detached: true });
  const pid = child.pid ?? 0;
  onTestFinished(() => killGroup(pid));
  // It may end without having read all of it.
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
    /** Resolves with the output so far once that holds the text. @throws when the program ends without it */
    until: (stream: 'stdout' | 'stderr', text: string) => output[stream].until(text),
    type: (text: string) => void child.stdin.write(text),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Closes our end of its output, as `head` does. */
    hangUp: (stream: 'stdout' | 'stderr') => void child[stream].destroy(),
  };
}

function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function onTerminal(command: readonly string[], columns: number): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['script', '-qfec', `stty cols ${columns} rows 24; exec ${quoted}`, '/dev/null'];
}

/** Passes on nothing of ours: no PETSTOCK_*, no FORCE_COLOR, no proxy. */
function environment({ home = temporaryHome(), env }: ProgramOptions): NodeJS.ProcessEnv {
  const { PATH, TZ } = process.env;
  return {
    PATH,
    TZ,
    LANG: 'C.UTF-8',
    // Nobody is there to leave one.
    PAGER: 'cat',
    TERM: 'xterm-256color',
    HOME: home.folder,
    PETSTOCK_CONFIG_DIR: home.config,
    PETSTOCK_STATE_DIR: home.state,
    // Gates that another program has left on this machine are none of the test's business.
    PETSTOCK_RUNTIME_DIR: join(home.folder, 'runtime'),
    // Every first start would fill a fresh home with its cache.
    PETSTOCK_NO_CACHE: '1',
    ...env,
  };
}

/** Its folders don't exist yet; all of it is removed when the test is finished. */
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

export type Served = Awaited<ReturnType<typeof serve>>;

/**
 * `petstock sandbox serve` as a process of its own, on a free port and in memory.
 * @param args of it, such as `--fault` and its value
 */
export async function serve(args: readonly string[] = [], options?: ProgramOptions) {
  const standard = 'sandbox serve --port 0 --file :memory: --admin-port 0 --test-controls --json'.split(' ');
  const home = temporaryHome();
  const program = startProgram([...standard, ...args], { home, ...options });
  const line: Readonly<Record<'url' | 'key' | 'admin' | 'adminToken', string>> = JSON.parse(
    await program.until('stdout', '\n'),
  );
  const { url, key, admin, adminToken } = line;
  const headers = { Authorization: `Bearer ${adminToken}` };
  const journal = async () => (await (await fetch(`${admin}/journal`, { headers })).json()) as JournalEntry[];
  const env = { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key };
  /** Resolves once it has seen so many requests, answered or not. */
  const untilSeen = (requests: number) =>
    until(async () => {
      const { length } = await journal();
      if (length < requests) throw new Error(`the service has seen ${length} requests, not ${requests}`);
    });
  /** `journal` has the requests that it has seen, oldest first. */
  return { url, key, program, env, journal, untilSeen };
}
