import { wantsColor } from '../output/terminal.ts';
import { readSharedOptions } from '../settings/shared-options.ts';
import { exitCodes, UsageError } from '../shared/errors.ts';
import type { FlagValues } from '../shared/hint.ts';
import { ownOptions, type PetstockCommand, runningCommand, typedSharedOptions } from './commands/command.ts';
import type { Context } from './context.ts';
import { guardedContext } from './guarded-context.ts';
import type { Action, Invocation, Run } from './invocation/invocation.ts';
import { createProgram, parse } from './program.ts';
import { refuseTypedKey } from './typed-keys.ts';

/**
 * Runs one command line.
 * @returns the exit code. Never throws: errors are caught here and reported on stderr
 */
export async function main(given: Context): Promise<number> {
  const context = guardedContext(given);
  let help = '';
  let opened: Invocation | undefined;
  const width = Math.min(context.stdout.columns ?? 80, 100);
  /** Opens an invocation around the action that Commander has chosen, and closes it afterwards. */
  const run: Run =
    <Options extends object>(action: Action<Options>) =>
    async (...args: unknown[]) => {
      // Commander passes the operands (variadic ones as an array), then the options of this command, then the command.
      const command = args.at(-1) as PetstockCommand;
      const operands = args.slice(0, -2).flat() as string[];
      const running = runningCommand(program);
      if (!running.takesKeys) refuseTypedKey(operands, running.name);
      // Loaded late, because help and version don't need it.
      const { openInvocation } = await import('./invocation/invocation.ts');
      const { options: ofAll, problemText } = shared();
      if (problemText !== undefined) throw new UsageError(problemText, { hint: 'petstock help options' });
      const globals = { ...ofAll, typed: typedSharedOptions(program), fields: command.getOptionValue('fields') };
      const options = ownOptions<Options>(command);
      opened = await openInvocation(context, { globals, options: options as FlagValues }, running);
      try {
        await action(opened, options, ...operands);
      } catch (error) {
        // The outcome of the command matters more than an error after it.
        await finish(opened).catch(() => {});
        throw error;
      }
      await finish(opened);
    };
  const writeOut = (text: string) => {
    help += text;
  };
  const hasColor = (): boolean => {
    const { color: flag } = shared().options;
    return wantsColor({ flag, env: context.env, isTerminal: context.stdout.isTerminal });
  };
  const shared = () => readSharedOptions(typedSharedOptions(program), context.env);
  const program = createProgram({ run, width, writeOut, hasColor });
  try {
    await parse(program, context.argv);
    if (help !== '') {
      const { wrapLong } = await import('../output/help-text.ts');
      // Written without a sink, because help has no invocation, so there is no drawn line to clear.
      await context.stdout.write(wrapLong(help, width));
    }
    return exitCodes.ok;
  } catch (error) {
    const { reportError } = await import('./report.ts');
    const running = runningCommand(program);
    return reportError(error, { context, globals: shared().options, invocation: opened, running });
  }
}

async function finish({ connections }: Invocation): Promise<void> {
  try {
    await connections.showRateLimit();
  } finally {
    await connections.close();
  }
}
