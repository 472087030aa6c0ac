import { wantsColor } from '../output/terminal.ts';
import { keyInHistory, withoutKeys } from '../settings/key-and-url.ts';
import { readSharedOptions } from '../settings/shared-options.ts';
import { exitCodes, UsageError } from '../shared/errors.ts';
import { version } from '../shared/version.ts';
import type { Context } from './context.ts';
import { guardedContext } from './guarded-context.ts';
import type { Invocation } from './invocation/invocation.ts';
import { type CommandLine, readCommandLine } from './program.ts';

/**
 * Runs one command line.
 * @returns the exit code. Never throws: errors are caught here and reported on stderr
 */
export async function main(given: Context): Promise<number> {
  const context = guardedContext(given);
  let line: CommandLine | undefined;
  let opened: Invocation | undefined;
  const shared = () => readSharedOptions(line?.shared ?? {}, context.env);
  try {
    line = await readCommandLine(context.argv);
    const { names, needsConfig, wants } = line;
    if (wants === 'version') await context.stdout.write(`${version}\n`);
    else if ('help' in wants) await showHelp(context, wants.help, shared().options.color);
    else if ('error' in wants) throw wants.error;
    else {
      const { run, formats, takesAnyWord, typed, options, operands } = wants;
      const name = names.join(' ');
      if (!takesAnyWord && operands.some((word) => withoutKeys(word) !== word)) {
        throw new UsageError(`petstock ${name} does not take a key. ${keyInHistory}`, {
          hint: 'petstock config set-key',
        });
      }
      // Loaded late, because help and version don't need it.
      const { openInvocation } = await import('./invocation/invocation.ts');
      const { options: ofAll, problemText } = shared();
      if (problemText !== undefined) throw new UsageError(problemText, { hint: 'petstock help options' });
      const globals = { ...ofAll, typed: line.shared, fields: typed.fields as readonly string[] | undefined };
      opened = await openInvocation(context, { globals, options: typed }, { name, needsConfig, formats });
      try {
        const running = run(opened, options, ...operands);
        if (running instanceof Promise) await running;
        else for await (const view of running) await opened.results.print(view);
      } catch (error) {
        // The outcome of the command matters more than an error after it.
        await finish(opened).catch(() => {});
        throw error;
      }
      await finish(opened);
    }
    return exitCodes.ok;
  } catch (error) {
    const { reportError } = await import('./report.ts');
    const name = line?.names.join(' ') ?? '';
    return reportError(error, { context, globals: shared().options, invocation: opened, command: name });
  }
}

/** Shows help without an invocation, so that it works even if the configuration is damaged. */
async function showHelp(context: Context, words: readonly string[], flag: 'auto' | 'always' | 'never' | undefined) {
  const { env, stdout } = context;
  const { helpOf } = await import('./commands/help.ts');
  const hasColor = wantsColor({ flag, env, isTerminal: stdout.isTerminal });
  await stdout.write(await helpOf(words, { width: Math.min(stdout.columns ?? 80, 100), hasColor }));
}

async function finish({ connections }: Invocation): Promise<void> {
  try {
    await connections.showRateLimit();
  } finally {
    await connections.close();
  }
}
