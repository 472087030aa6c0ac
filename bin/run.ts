import { fstatSync, type Stats, statSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable } from 'node:stream';
import type { Transport, TransportOptions } from '../src/api/transport.ts';
import type { Context, Input, Output } from '../src/cli/context.ts';
import { main } from '../src/cli/main.ts';
import type { Folders } from '../src/settings/folders.ts';
import { type Clock, createSystemClock, hasBootId, machineTime } from '../src/shared/clock.ts';
import {
  ClosedPipeError,
  type EndingSignal,
  endingSignalOf,
  exitCodes,
  InterruptedError,
} from '../src/shared/errors.ts';
import { createSystemProcesses } from '../src/shared/processes.ts';
import { foldersOf } from './folders.ts';

/** Runs the command line of this process. @returns the exit code */
export async function run(): Promise<number> {
  // Should nothing be left that a command could wait for, Node ends it: that must not look like its work.
  process.exitCode = exitCodes.failure;
  const env = { ...process.env };
  // Node warns on stderr if both are set, as they may be.
  if (env.FORCE_COLOR !== undefined) delete process.env.NO_COLOR;
  // The terminal of an editor that is a snap has it, and conf would then write the configuration in place.
  delete process.env.SNAP;
  const interruption = listenForInterruption();
  const { signal: interrupted, onSecondInterrupt, onHangup } = interruption;
  const folders = foldersOf(env);
  const clock = await systemClock(folders);
  const context: Context = {
    argv: process.argv.slice(2),
    env,
    stdin: input(() => process.stdin, interruption),
    stdout: output(1, () => process.stdout),
    stderr: bestEffort(output(2, () => process.stderr)),
    sharesOutput,
    clock,
    openTransport,
    folders,
    openPager: async (command) => (await import('./terminal.ts')).openPager(command),
    processes: createSystemProcesses({ pid: process.pid, boot: clock.boot, kill: process.kill }),
    prompts: latePrompts(interrupted, env.TERM === 'dumb'),
    ...{ interrupted, onSecondInterrupt, onHangup },
    ...(process.versions.bun === undefined && { saveMemory }),
    random: Math.random,
    licences: async () => (await import('./licences.ts')).readLicences(),
  };
  const code = await main(context);
  // A question ends with its terminal, before the signal has come or without one; or its reading fails.
  if (interrupted.aborted || code === exitCodes.interrupted || code === exitCodes.failure) endWithTerminal();
  if (interrupted.aborted) setTimeout(() => endBlocked(endingSignalOf(interrupted)), 500).unref();
  return code;
}

/**
 * Ends the process by SIGHUP if its terminal is gone, as of a program that has no listener for it. On its way out Node 20 would try to
 * reset the mode of that terminal, and abort with a core dump (nodejs/node#51519).
 */
function endWithTerminal(): void {
  if (![process.stdin, process.stdout, process.stderr].some(isGone)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** Ends an interrupted process that the system keeps in a call, such as the opening of a pipe without a writer: Node would wait for it. */
function endBlocked(signal: EndingSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Whether a stream was that of a terminal, and it was closed. */
function isGone({ isTTY, fd = -1 }: { readonly isTTY?: boolean; readonly fd?: number }): boolean {
  return isTTY === true && !process.getBuiltinModule('node:tty').isatty(fd);
}

/** The same file, pipe or terminal behind both. Windows has no numbers for what is not a file. */
function sharesOutput(): boolean {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)];
    return out.ino !== 0 && out.ino === err.ino && out.dev === err.dev;
  } catch {
    return false;
  }
}

async function systemClock(folders: Folders): Promise<Clock> {
  const hrtime = machineTime(process);
  if (hasBootId()) return createSystemClock(hrtime);
  const { keptBoot } = await import('../src/shared/kept-boot.ts');
  return createSystemClock(hrtime, { kept: (monotonic) => keptBoot({ folder: folders.state, monotonic }) });
}

/**
 * On Node 20 the first request makes V8 optimise undici's HTTP parser (WebAssembly) in the background, and the exit waits for it:
 * 500 M instructions, some 100 ms. A parser that is made while the budget is large is never optimised.
 */
function openTransport(options: TransportOptions): Transport {
  // It begins to load at once: a request that was admitted does not wait for it.
  const opening = import('../src/api/undici.ts').then(({ createUndiciTransport }) => createUndiciTransport(options));
  // The first request fails then.
  opening.catch(() => {});
  const transport: Transport = async (request) => (await opening)(request);
  if (!process.versions.node.startsWith('20.')) return transport;
  const setBudget = (budget: number) => setV8Flag('wasm-tiering-budget', budget);
  let isFirst = true;
  return async (request) => {
    if (!isFirst) return transport(request);
    isFirst = false;
    setBudget(100_000_000);
    try {
      return await transport(request);
    } finally {
      setBudget(1_800_000);
    }
  };
}

/** V8 lets its heap grow to up to four times what was in use: 280 MB in all for 100,000 rows, of which 42 MB are used. */
function saveMemory(isSaved: boolean): void {
  setV8Flag('heap-growing-percent', isSaved ? 20 : 0);
}

/** The flags are no stable interface. Each is set back, since V8 takes cached code only under the flags that it was made with. */
function setV8Flag(name: string, value: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--${name}=${value}`);
}

interface Interruption extends Required<Pick<Context, 'onSecondInterrupt' | 'onHangup'>> {
  readonly signal: AbortSignal;
  /** As Ctrl-C does. */
  abort(): void;
}

/**
 * Aborted by the first Ctrl-C, Ctrl-Break or SIGTERM, and by SIGHUP: the terminal was closed, or the connection to it was lost. A second one is
 * left to the operating system, which ends the process at once; if a program reads stderr, an error is written to it first. But a closed
 * terminal sends SIGHUP more than once: from its shell, and from the system when that has ended.
 */
function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const abort = (signal: EndingSignal = 'SIGINT') => controller.abort(new InterruptedError('Interrupted', { signal }));
  let lastWords: ((signal: EndingSignal) => string) | undefined;
  let onHangup: (() => void) | undefined;
  // SIGBREAK is known to Windows alone; elsewhere it never comes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
    process.once(signal, () => {
      const ending = signal === 'SIGBREAK' ? 'SIGINT' : signal;
      abort(ending);
      const words = lastWords;
      if (words !== undefined) process.once(signal, () => endWith(words(ending), signal));
    });
  }
  process.on('SIGHUP', () => (onHangup === undefined ? abort('SIGHUP') : onHangup()));
  return {
    ...{ signal: controller.signal, abort: () => abort() },
    onSecondInterrupt: (words) => {
      lastWords = words;
    },
    onHangup: (listener) => {
      onHangup = listener;
    },
  };
}

/** Without its listener a signal does again what it does to every process. */
function endWith(words: string, signal: NodeJS.Signals): void {
  try {
    writeSync(process.stderr.fd, `${words}\n`);
  } catch {
    // A pipe that is full or has no reader: the exit code says it too.
  }
  process.kill(process.pid, signal);
}

/** Most commands ask nothing. @param isDumb the terminal can't draw */
function latePrompts(interrupted: AbortSignal, isDumb: boolean): Context['prompts'] {
  const ask = async <Answer>(question: (prompts: Context['prompts']) => Promise<Answer>): Promise<Answer> => {
    const { createPlainPrompts, createPrompts } = await import('../src/cli/prompts.ts');
    const create = isDumb ? createPlainPrompts : createPrompts;
    // Ctrl-D has ended the stream, but not the terminal: it is reopened.
    const hasEnded = process.stdin.isTTY && process.stdin.readableEnded;
    const opened = hasEnded ? (await import('./terminal.ts')).openTerminalAgain() : undefined;
    try {
      return await question(create({ input: opened ?? process.stdin, output: process.stderr, signal: interrupted }));
    } finally {
      opened?.destroy();
    }
  };
  return {
    password: (text) => ask((prompts) => prompts.password(text)),
    confirm: (text) => ask((prompts) => prompts.confirm(text)),
    text: (text) => ask((prompts) => prompts.text(text)),
  };
}

/** Node opens a standard stream when it is first asked for, which takes a millisecond or two: so it is asked for late. */
type Late<Stream> = () => Stream;

type Stdin = Readable & { readonly isTTY?: boolean; readonly fd?: number; setRawMode?(raw: boolean): unknown };

function input(stream: Late<Stdin>, interruption: Interruption): Input {
  return {
    get isTerminal() {
      return mayBeTerminal(0) && stream().isTTY === true;
    },
    chunks: { [Symbol.asyncIterator]: () => chunksOf(stream(), interruption) },
    keys: () => keysOf(stream(), interruption),
    descriptor: 0,
  };
}

/**
 * Yields what comes in, a piece at a time: the next is not taken from the system before it is asked for, so that a process that is killed
 * has nothing in its hands. Whoever stops reading leaves the rest where it is, such as the answer to a question.
 */
async function* chunksOf(stream: Stdin, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
  const interrupted = interruption.signal;
  let arrived: Uint8Array[] = [];
  let failure: unknown;
  let ended = stream.readableEnded || stream.destroyed;
  let wake = (): void => {};
  const onData = (chunk: Uint8Array) => {
    stream.pause();
    arrived.push(chunk);
    wake();
  };
  const onEnd = () => {
    // What was typed so far is not all of it, though no Ctrl-D has ended it.
    if (isGone(stream)) interruption.abort();
    ended = true;
    wake();
  };
  const fail = (reason: unknown) => {
    failure ??= reason;
    wake();
  };
  const onAbort = () => fail(interrupted.reason);
  stream.on('end', onEnd).on('close', onEnd).on('error', fail);
  interrupted.addEventListener('abort', onAbort);
  if (interrupted.aborted) onAbort();
  try {
    stream.on('data', onData);
    while (failure === undefined && (arrived.length > 0 || !ended)) {
      const chunks = arrived;
      arrived = [];
      yield* chunks;
      if (arrived.length > 0 || ended || failure !== undefined) continue;
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      stream.resume();
      await woken;
    }
    if (failure !== undefined) throw failure;
  } finally {
    interrupted.removeEventListener('abort', onAbort);
    stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', fail).pause();
  }
}

/** The same in raw mode, in which Ctrl-C is a character. It begins at once: whoever is asked to type may be a scanner. */
function keysOf(stream: Stdin, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
  stream.setRawMode?.(true);
  return rawKeysOf(stream, interruption);
}

async function* rawKeysOf(stream: Stdin, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
  const hasCtrlC = ctrlCFinder();
  try {
    for await (const chunk of chunksOf(stream, interruption)) {
      if (hasCtrlC(chunk)) interruption.abort();
      yield chunk;
    }
  } finally {
    // A terminal that is gone has no mode any more.
    if (!isGone(stream)) stream.setRawMode?.(false);
  }
}

/** Ctrl-C, and the end (ETX) of a code that a scanner begins with an STX. */
const [stx, ctrlC] = [0x02, 0x03];

/** Returns what looks for Ctrl-C in keys, of which a code may be cut in two. */
function ctrlCFinder(): (keys: Uint8Array) => boolean {
  /** How many characters of a code in a frame have come; undefined outside of one. */
  let framed: number | undefined;
  return (keys) => {
    let isPressed = false;
    for (const key of keys) {
      // A frame of nothing is Ctrl-B and Ctrl-C.
      if (key === ctrlC && !framed) isPressed = true;
      framed = key === stx ? 0 : key === ctrlC || framed === undefined ? undefined : framed + 1;
    }
    return isPressed;
  };
}

/** stderr is for people: if it has no reader, the work continues, and the exit code is the result. */
function bestEffort(stream: Output): Output {
  const { write } = stream;
  return Object.assign(stream, { write: (chunk: string | Uint8Array) => write(chunk).catch(() => {}) });
}

function output(descriptor: number, open: Late<NodeJS.WriteStream>): Output {
  if (isFile(descriptor)) {
    return { isTerminal: false, columns: undefined, write: async (chunk) => writeAll(descriptor, chunk) };
  }
  let opened: NodeJS.WriteStream | undefined;
  const stream = () => {
    // Each write reports what goes wrong; without a listener the event would end the process.
    opened ??= open().on('error', () => {});
    return opened;
  };
  return {
    get isTerminal() {
      return stream().isTTY === true;
    },
    // A terminal whose size was never set says 0 (`docker run -t`, `expect`).
    get columns() {
      return stream().columns || undefined;
    },
    get rows() {
      return stream().rows || undefined;
    },
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stream().write(chunk, (error) => {
          if (!error) resolve();
          else reject(isClosed(error, stream().isTTY) ? new ClosedPipeError('No reader') : error);
        });
      }),
  };
}

/**
 * Reports whether a file or nobody takes what is written. Node's stream does then no more than `writeSync`, and takes 9 M instructions
 * to load, a ninth of what Node itself takes.
 */
function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || isNobody(stats);
  } catch {
    return false;
  }
}

/** Node's stream knows for certain, and takes 3 ms to load if it is that of a file. */
function mayBeTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && !isNobody(stats);
  } catch {
    return true;
  }
}

/** Windows has no numbers for devices. */
function isNobody({ rdev }: Stats): boolean {
  return rdev !== 0 && rdev === statSync(devNull).rdev;
}

function writeAll(descriptor: number, chunk: string | Uint8Array): void {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Reports whether the reader of a stream is gone. A terminal that was closed takes nothing any more: EIO. */
export function isClosed(error: NodeJS.ErrnoException, isTerminal: boolean): boolean {
  return error.code === 'EPIPE' || (isTerminal && error.code === 'EIO');
}
