import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../shared/clock.ts';
import { AuthError } from '../shared/errors.ts';
import { shellWord } from '../shared/hint.ts';
import { type Parsed, parsed, problem } from '../shared/parsed.ts';
import { singleLine } from '../shared/sanitize.ts';
import type { KeyCommand } from './config-file.ts';
import { parseKey } from './key-and-url.ts';
import { type Environment, withoutSecrets } from './variables.ts';

export interface KeyCommandOptions {
  readonly env: Environment;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  /** The hint of the error: a command that stores another key or key command. */
  readonly hint: string;
  /**
   * Receives the first 20 lines that the command writes to stderr, as they arrive, and one `…` for all others. Lines
   * are safe for a terminal, and cut after 500 characters.
   */
  onMessage(line: string): void;
}

/** Maximum duration of the command in milliseconds. A person may have to unlock a keyring, or touch a security key. */
const maxRun = 60_000;
/** Maximum size of the output in bytes, much longer than any key. */
const maxBytes = 64 * 1024;
const maxLines = 20;
/** How many turns of the event loop read what is left in the pipes; one reads more than `maxBytes`. */
const turnsToRead = 5;
/** Maximum length of a line that is shown, in characters. */
const maxLine = 500;

/**
 * Runs the command that prints a key, like `credential_process` of the AWS command line: stdout is the key, stderr is
 * for the user, stdin is empty. The command inherits this process's variables except petstock's secrets, and only the
 * absolute entries of PATH.
 * @throws AuthError that names the command and never shows its stdout; the reason of `interrupted`
 */
export async function runKeyCommand(key: KeyCommand, options: KeyCommandOptions): Promise<string> {
  const { interrupted, hint } = options;
  interrupted.throwIfAborted();
  const fail: Fail = (words, cause) =>
    new AuthError(`The key command ${words}: ${key.command}. Nothing was sent`, { hint, cause });
  const output = await outputOf(start(key, options, fail), options, fail).catch((error) => {
    throw interrupted.aborted ? interrupted.reason : error;
  });
  const parsed = parseKey(output);
  if (!parsed.ok) throw fail(`printed text that is not a key (${parsed.problem})`);
  return parsed.value;
}

/** Creates the error of the command. `words` say what happened, such as `ended with exit code 1`. */
type Fail = (words: string, cause?: unknown) => AuthError;

const missing = 'names a program that does not exist';

function start(key: KeyCommand, { env }: KeyCommandOptions, fail: Fail): ChildProcess {
  const folders = absoluteFolders(env);
  const variables = { ...withoutSecrets(env), [pathName(env)]: folders.join(path.delimiter) };
  const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe'];
  const options = { env: variables, stdio, windowsHide: true, detached: hasOwnGroup() };
  // A relative path in the command must not depend on the current folder, where another user may have put a file.
  if (key.shell) return spawn(key.command, { ...options, shell: true, cwd: path.parse(process.execPath).root });
  const words = parseCommandLine(key.command);
  if (!words.ok) throw fail(`can't be run (${words.problem})`);
  const [program = '', ...args] = words.value;
  if (hasFolder(program) && !path.isAbsolute(program)) {
    throw fail('names its program by a relative path, which depends on the current folder');
  }
  const file = hasFolder(program) ? program : findProgram(program, folders, env);
  if (file === undefined) throw fail(missing);
  return spawn(file, args, { ...options, shell: false });
}

/**
 * Reports whether the command gets a process group of its own, which can be ended as a whole. With such a group it
 * could not ask for a PIN, because Node also separates it from the terminal. On Windows, it would open a window.
 */
function hasOwnGroup(): boolean {
  return process.platform !== 'win32' && !hasTerminal();
}

/** Reports whether this process can be asked on a terminal, even if all its streams are redirected. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch {
    return false;
  }
}

/** Returns the name of the variable PATH: on Windows it is called Path. */
function pathName(env: Environment): string {
  return Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}

/** Returns the entries of PATH without relative and empty ones, because those depend on the current folder. */
function absoluteFolders(env: Environment): readonly string[] {
  return (env[pathName(env)] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
}

function findProgram(name: string, folders: readonly string[], env: Environment): string | undefined {
  const isWindows = process.platform === 'win32';
  const endings = isWindows ? ['', ...(env.PATHEXT ?? '.EXE').split(';')] : [''];
  const files = folders.flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

/**
 * Returns the output of the command, once the command itself has ended successfully. What it has started, such as an
 * agent, may keep its streams open.
 */
async function outputOf(child: ChildProcess, options: KeyCommandOptions, fail: Fail): Promise<string> {
  const { clock, interrupted } = options;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let problem: string | undefined;
  const stop = (words: string) => {
    problem ??= words;
    endAll(child);
  };
  const onInterrupt = () => stop('was interrupted');
  interrupted.addEventListener('abort', onInterrupt, { once: true });
  const deadline = clock.deadline(maxRun, () => stop(`did not end within ${maxRun / 1000} s`));
  child.stdout?.on('data', (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > maxBytes) stop('printed more text than any key has');
  });
  const endMessages = showMessages(child, options);
  try {
    const [code, signal] = await once(child, 'exit').catch((cause) => {
      throw fail(cause.code === 'ENOENT' ? missing : 'could not be started', cause);
    });
    // What the command has printed is already in the pipes, from which each turn of the event loop reads.
    for (let turn = 0; turn < turnsToRead; turn += 1) await nextTurn();
    const exit = code === 0 ? undefined : signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    const words = problem ?? exit;
    if (words !== undefined) throw fail(words);
    return Buffer.concat(pieces).toString('utf8');
  } finally {
    deadline.clear();
    interrupted.removeEventListener('abort', onInterrupt);
    child.stdout?.destroy();
    child.stderr?.destroy();
    endMessages();
  }
}

/** Ends a command with everything that it has started, as far as that has not left its group or its parent. */
function endAll(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const pids = hasOwnGroup() ? [-pid] : [pid, ...descendantsOf(pid)];
  for (const each of pids) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}

/** Returns the processes that a process has started, and that these have started; none without `ps`, as on Windows. */
function descendantsOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = (stdout ?? '').split('\n').map((line) => line.trim().split(/ +/).map(Number));
  const childrenOf = (parent: number): readonly number[] =>
    pairs.flatMap(([child = 0, of]) => (of === parent ? [child, ...childrenOf(child)] : []));
  return childrenOf(pid);
}

/**
 * Passes on the first lines of stderr.
 * @returns a function that passes on an incomplete last line
 */
function showMessages(child: ChildProcess, { onMessage }: KeyCommandOptions): () => void {
  const decoder = new TextDecoder();
  let lines = 0;
  let open = '';
  const show = (text: string) => {
    const line = singleLine(text).trim();
    if (line === '') return;
    lines += 1;
    if (lines <= maxLines) onMessage(line.length > maxLine ? `${line.slice(0, maxLine)}…` : line);
    else if (lines === maxLines + 1) onMessage('…');
  };
  child.stderr?.on('data', (piece: Buffer) => {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split(/\r\n|\n|\r/);
    // Limits the length already here, because the line may never end.
    open = (open + first).slice(0, maxLine + 1);
    for (const text of others) {
      show(open);
      open = text.slice(0, maxLine + 1);
    }
  });
  return () => show(open);
}

/**
 * Splits a command into words at white space. Quotes and backslashes work as in a shell, but nothing is expanded. A
 * backslash before a character without a special meaning stays, for Windows paths.
 * @returns a problem if a quote is not closed, there is no word, or an unquoted character needs a shell
 */
export function parseCommandLine(text: string): Parsed<readonly string[]> {
  const words: string[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    let word = '';
    if (/^[~#]/.test(rest)) return shellProblem(rest);
    for (;;) {
      const part = partPattern.exec(rest);
      if (part === null) break;
      rest = rest.slice(part[0].length);
      word += unquote(part[0]);
    }
    if (/^["']/.test(rest)) return problem(`a quote is not closed: ${rest.slice(0, 1)}`);
    if (/^\S/.test(rest)) return shellProblem(rest);
    words.push(word);
    rest = rest.trimStart();
  }
  return words[0] ? parsed(words) : problem('it names no program');
}

/**
 * Returns a command as it is stored: a relative path of its program is made absolute, so that it always runs the same
 * program. A name without a slash stays; it is looked up in PATH.
 */
export function absoluteCommand(text: string): Parsed<string> {
  const words = parseCommandLine(text);
  if (!words.ok) return words;
  const [program = '', ...args] = words.value;
  if (!hasFolder(program) || path.isAbsolute(program)) return parsed(text);
  return parsed([path.resolve(program), ...args].map(shellWord).join(' '));
}

/** Like `absoluteCommand`, for a command that a shell runs. Only its first program can be recognized. */
export function absoluteShellCommand(text: string): string {
  const [typed = ''] = /^[\w./+-]+/.exec(text.trimStart()) ?? [];
  if (!hasFolder(typed) || path.isAbsolute(typed)) return text;
  return shellWord(path.resolve(typed)) + text.trimStart().slice(typed.length);
}

/** Reports whether a program is given as a path instead of looked up in PATH. */
function hasFolder(program: string): boolean {
  return program.includes('/') || program.includes(path.sep);
}

function shellProblem(rest: string): Parsed<never> {
  return problem(
    `"${rest.charAt(0)}" has a special meaning in a shell: put it in quotes, or add --shell to run the command in a shell`,
  );
}

/** Matches text in single or double quotes, a backslash with its character, or text that no shell interprets. */
const partPattern = /^(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s"'\\|&;<>()$`*?[\]#~{}!]|\\|[^\s"'\\|&;<>()$`*?[\]{}!]+)/;

function unquote(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (part.startsWith('"')) return part.slice(1, -1).replace(/\\(["\\$`])/g, '$1');
  return part.length === 2 && part.startsWith('\\') ? part.slice(1) : part;
}
