import type { Context, Output } from './context.ts';

/**
 * On a terminal, Ctrl-C leaves `^C` where the cursor is: what is written next begins on a line of its own. A line that is drawn
 * again and again begins with a carriage return and wipes the `^C` by itself.
 */
export function withLineAfterInterrupt(context: Context): Context {
  const { stderr, interrupted } = context;
  let isDone = false;
  const own: Output = {
    get isTerminal() {
      return stderr.isTerminal;
    },
    get columns() {
      return stderr.columns;
    },
    get rows() {
      return stderr.rows;
    },
    write: (chunk) => {
      if (isDone || !interrupted.aborted || !stderr.isTerminal) return stderr.write(chunk);
      isDone = true;
      return stderr.write(typeof chunk === 'string' && !chunk.startsWith('\r') ? `\n${chunk}` : chunk);
    },
  };
  return Object.create(context, { stderr: { value: own, enumerable: true } }) as Context;
}

const lineEnd = 10;

/**
 * Where stdout and stderr go to one place, such as with `2>&1`, what is said behind a result without a line end, as an
 * answer may be, begins on a line of its own. The result stays as it is.
 */
export function withLineBehindResult(context: Context): Context {
  const { stdout, stderr } = context;
  let isOpen = false;
  const watched = overWrite(stdout, (chunk) => {
    if (chunk.length > 0)
      isOpen = (typeof chunk === 'string' ? chunk.charCodeAt(chunk.length - 1) : chunk.at(-1)) !== lineEnd;
    return stdout.write(chunk);
  });
  const own = overWrite(stderr, async (chunk) => {
    const isGlued = isOpen && context.sharesOutput?.() === true;
    isOpen = false;
    if (isGlued) await stderr.write('\n');
    await stderr.write(chunk);
  });
  return Object.create(context, {
    stdout: { value: watched, enumerable: true },
    stderr: { value: own, enumerable: true },
  }) as Context;
}

function overWrite(output: Output, write: Output['write']): Output {
  return Object.create(output, { write: { value: write, enumerable: true } }) as Output;
}
