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
    redact: (text) => stderr.redact?.(text) ?? text,
    write: (chunk) => {
      if (isDone || !interrupted.aborted || !stderr.isTerminal) return stderr.write(chunk);
      isDone = true;
      return stderr.write(typeof chunk === 'string' && !chunk.startsWith('\r') ? `\n${chunk}` : chunk);
    },
  };
  return Object.create(context, { stderr: { value: own, enumerable: true } }) as Context;
}
