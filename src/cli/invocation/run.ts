import type { Command } from 'commander';
import { ChangesFound, ClosedPipeError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import type { Action, GlobalOptions, Run } from './invocation.ts';
import type { OpenInvocation } from './open.ts';

export interface Runner {
  readonly run: Run;
  /** The invocation of the command that ran, once it has begun. */
  opened(): OpenInvocation | undefined;
}

/** Opens an invocation around the action that Commander has chosen, and closes it behind it. */
export function createRunner(context: Context): Runner {
  let opened: OpenInvocation | undefined;
  const run: Run =
    <Options extends object>(action: Action<Options>) =>
    async (...args: unknown[]) => {
      // Commander passes the operands, then the options of this command, then the command.
      const command = args.at(-1) as Command;
      const operands = args.slice(0, -2) as string[];
      // Late, since help and version do without it.
      const { openInvocation } = await import('./open.ts');
      const invocation = await openInvocation(context, command.optsWithGlobals<GlobalOptions>());
      opened = invocation;
      let failed = true;
      try {
        await action(invocation, command.opts<Options>(), ...operands);
        failed = false;
      } catch (error) {
        failed = !(error instanceof ClosedPipeError || error instanceof ChangesFound);
        throw error;
      } finally {
        await finish(invocation, failed);
      }
    };
  return { run, opened: () => opened };
}

async function finish(invocation: OpenInvocation, failed: boolean): Promise<void> {
  try {
    // With JSON an error is the only thing on stderr, so that a program can parse it.
    if (failed && invocation.wantsJson) return;
    await invocation.release();
    await invocation.showRateLimit();
  } finally {
    await invocation.close();
  }
}
