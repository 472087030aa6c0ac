import { exitCodes } from '../shared/errors.ts';
import type { Context } from './context.ts';
import { guardedContext } from './guarded-context.ts';
import { createRunner } from './invocation/run.ts';
import { createProgram, parse } from './program.ts';

/**
 * Runs one command line.
 *
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
