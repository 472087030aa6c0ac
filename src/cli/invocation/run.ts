import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { refuseTypedKey } from '../typed-keys.ts';
import type { GlobalOptions } from './globals.ts';
import type { Action, ActionEnd, Invocation, Run } from './invocation.ts';

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
      const { openInvocation } = await import('./invocation.ts');
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
