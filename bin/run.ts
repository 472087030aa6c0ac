import type { Transport, TransportOptions } from '../src/api/transport.ts';
import type { Context } from '../src/cli/context.ts';
import { main } from '../src/cli/main.ts';
import type { Folders } from '../src/settings/folders.ts';
import { type Clock, createSystemClock, hasBootId, machineTime } from '../src/shared/clock.ts';
import { endingSignalOf, exitCodes } from '../src/shared/errors.ts';
import { createSystemProcesses } from '../src/shared/processes.ts';
import { foldersOf } from './folders.ts';
import { createInput } from './input.ts';
import { endBlocked, endWithTerminal, listenForInterruption } from './interruption.ts';
import { bestEffort, createOutput, sharesOutput } from './output.ts';

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
    stdin: createInput(() => process.stdin, interruption),
    stdout: createOutput(1, () => process.stdout),
    stderr: bestEffort(createOutput(2, () => process.stderr)),
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
