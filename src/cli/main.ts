import type { Command } from 'commander';
import { exitCodes } from '../shared/errors.ts';
import type { Context } from './context.ts';
import { guardedContext } from './guarded-context.ts';
import type { GlobalOptions } from './invocation/globals.ts';
import type { Action, ActionEnd, Invocation, Run } from './invocation/invocation.ts';
import { createProgram, parse } from './program.ts';
import { refuseTypedKey } from './typed-keys.ts';

/**
 * Runs one command line.
 * @returns the exit code. Nothing is thrown: this is the only place that catches, and what failed is on stderr by then
 */
export async function main(given: Context): Promise<number> {
  const context = guardedContext(given);
  const runner = createRunner(context);
  let help = '';
  const width = Math.min(context.stdout.columns ?? 80, 100);
  const program = createProgram({
    run: runner.run,
    width,
    argv: context.argv,
    writeOut: (text) => {
      help += text;
    },
  });
  try {
    await parse(program, context.argv);
    if (help !== '') await writeHelp(context, help, width);
    return exitCodes.ok;
  } catch (error) {
    const { reportError } = await import('./report.ts');
    return reportError(error, { context, globals: program.opts(), invocation: runner.opened() });
  }
}

async function writeHelp({ stdout }: Context, text: string, width: number): Promise<void> {
  const { wrapLong } = await import('../output/help-text.ts');
  await stdout.write(wrapLong(text, width));
}

export interface Runner {
  readonly run: Run;
  /** Returns the invocation of the command that ran, once it has begun. */
  opened(): Invocation | undefined;
}

/** Opens an invocation around the action that Commander has chosen, and closes it afterwards. */
export function createRunner(context: Context): Runner {
  let opened: Invocation | undefined;
  const run: Run =
    <Options extends object>(action: Action<Options>) =>
    async (...args: unknown[]) => {
      // Commander passes the operands, those that may be several as an array, then the options of this command, then the command.
      const command = args.at(-1) as Command;
      const operands = args.slice(0, -2).flat() as string[];
      refuseTypedKey(operands, nameOf(command));
      // Late, since help and version do without it.
      const { openInvocation } = await import('./invocation/invocation.ts');
      opened = await openInvocation(context, command.optsWithGlobals<GlobalOptions>(), nameOf(command));
      let end: ActionEnd | undefined;
      try {
        end = (await action(opened, command.opts<Options>(), ...operands)) ?? undefined;
      } catch (error) {
        // The outcome of the command matters more than what fails after it.
        await finish(opened).catch(() => {});
        throw error;
      }
      await finish(opened, end);
    };
  return { run, opened: () => opened };
}

async function finish({ service }: Invocation, end?: ActionEnd): Promise<void> {
  try {
    if (!end?.showedRateLimit) await service.showRateLimit();
  } finally {
    await service.close();
  }
}

/** `inventory set` */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}
