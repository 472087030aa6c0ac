import { Command, CommanderError } from 'commander';
import { configOutline } from '../../src/cli/commands/config/index.ts';
import { addCommands } from '../../src/cli/commands/lazy-commands.ts';
import type { Context, Output } from '../../src/cli/context.ts';
import type { GlobalOptions, Invocation, Run } from '../../src/cli/invocation/invocation.ts';
import type { View } from '../../src/output/view.ts';
import { readConfig } from '../../src/settings/config-file.ts';
import { resolveEnvironment } from '../../src/settings/resolve.ts';
import { PetstockError } from '../../src/shared/errors.ts';
import { exitCodes } from '../../src/shared/exit-codes.ts';

export interface Surroundings {
  readonly folder: string;
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** What is typed at the hidden question; there is a terminal only where this is given. */
  readonly typed?: string;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly questions: readonly string[];
  readonly views: readonly View[];
}

/** Runs one `config` command with real files and everything else faked, as `main` would. */
export async function runConfig(args: readonly string[], around: Surroundings): Promise<Outcome> {
  const out = { stdout: '', stderr: '', questions: [] as string[], views: [] as View[] };
  const program = new Command('petstock')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        out.stdout += text;
      },
      writeErr: (text) => {
        out.stderr += text;
      },
    })
    .option('-e, --env <name>')
    .option('--json');
  const run: Run =
    (action) =>
    async (...given) => {
      const operands = given.slice(0, -2).map(String);
      const options = given.at(-2);
      // Commander's options are what the action declares; a fake may trust it.
      await action(invocation(program.opts(), around, out), options as Parameters<typeof action>[1], ...operands);
    };
  addCommands(program, [configOutline], run);
  const code = await program.parseAsync([...args], { from: 'user' }).then(
    () => 0,
    (error: unknown) => {
      if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
      if (!(error instanceof PetstockError)) throw error;
      out.stderr += `Error: ${error.message}\n${error.hint === undefined ? '' : `Hint: ${error.hint}\n`}`;
      return exitCodes[error.exit];
    },
  );
  return { code, ...out };
}

function invocation(
  globals: GlobalOptions,
  { folder, env = {}, stdin = '', typed }: Surroundings,
  out: { stdout: string; stderr: string; questions: string[]; views: View[] },
): Invocation {
  const { config } = readConfig(folder);
  const isTerminal = typed !== undefined;
  const output = { isTerminal } as Output;
  const context = {
    env,
    folders: { config: folder, state: folder },
    stdin: { isTerminal, chunks: chunksOf(stdin) },
    stderr: output,
    prompts: {
      password: async (question: string) => {
        out.questions.push(question);
        return typed ?? '';
      },
    },
  } as unknown as Context;
  const wantsJson = globals.json === true;
  return {
    context,
    globals,
    config,
    wantsJson,
    environment: resolveEnvironment(globals.env, env, config.settings),
    async print(view) {
      out.views.push(view);
      const rows = [];
      for await (const batch of view.rows) rows.push(...batch);
      if (wantsJson) out.stdout += `${JSON.stringify(view.shape === 'one' ? rows[0] : rows)}\n`;
      else for (const row of rows) out.stdout += `${view.columns.map(({ field }) => row[field] ?? '').join('\t')}\n`;
    },
    async write(text) {
      out.stdout += text;
    },
    async note(line) {
      out.stderr += `${line}\n`;
    },
    async warn(line) {
      out.stderr += `Warning: ${line}\n`;
    },
    release: async () => {},
    connect: () => Promise.reject(new Error('a config command wanted the network')),
    beginWrite: () => Promise.reject(new Error('a config command wanted to write there')),
    announce: () => Promise.reject(new Error('a config command wanted to write there')),
    confirmBulk: () => Promise.reject(new Error('a config command wanted to write there')),
    startProgress: () => Promise.reject(new Error('a config command wanted to write there')),
    show: () => Promise.reject(new Error('a config command wanted to paint')),
  };
}

/** In pieces of three bytes, as a slow pipe may deliver them. */
async function* chunksOf(content: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content);
  for (let start = 0; start < bytes.length; start += 3) yield bytes.subarray(start, start + 3);
}
