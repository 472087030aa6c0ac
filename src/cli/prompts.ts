import { type Readable, Transform, type Writable } from 'node:stream';
import type { Prompts } from './context.ts';
import { interruptedQuestion, isYes, type PromptStreams, setRawMode } from './plain-prompts.ts';

/** Questions on a terminal. Loads the library that draws them with the first question. */
export function createPrompts(streams: PromptStreams): Prompts {
  return {
    password: (question) =>
      ask(streams, async (options) => {
        const clack = await import('@clack/prompts');
        const answer = await clack.password({ ...options, message: question });
        return clack.isCancel(answer) ? undefined : answer;
      }),
    confirm: (question) =>
      ask(streams, async (options) => {
        const clack = await import('@clack/prompts');
        // Not `clack.confirm`, which a single key answers: a bar code with a Y in it, or a word typed ahead, is no Yes.
        const answer = await clack.text({ ...options, message: `${question} (y/N)` });
        return clack.isCancel(answer) ? undefined : isYes(answer ?? '');
      }),
    text: (question) =>
      ask(streams, async (options) => {
        const clack = await import('@clack/prompts');
        const answer = await clack.text({ ...options, message: question });
        // Enter alone gives nothing at all.
        return clack.isCancel(answer) ? undefined : (answer ?? '');
      }),
  };
}

interface QuestionOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/**
 * Clack hears Ctrl-C and Escape, but waits for ever if its input ends: on Ctrl-D, and on a terminal that went away.
 * Those, and the signal, end the question too.
 */
async function ask<Answer>(
  { input, output, signal }: PromptStreams,
  question: (options: QuestionOptions) => Promise<Answer | undefined>,
): Promise<Answer> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const onKey = (_text: unknown, key: { ctrl?: boolean; name?: string } | undefined) => {
    if (key?.ctrl === true && key.name === 'd') end();
  };
  const keys = withoutSuspend(input);
  input.on('end', end).on('close', end);
  keys.on('keypress', onKey);
  signal?.addEventListener('abort', end);
  try {
    if (signal?.aborted === true || input.readableEnded || input.destroyed) end();
    const answer = await question({ input: keys, output: withSize(output), signal: ended.signal });
    if (answer === undefined) throw interruptedQuestion();
    return answer;
  } finally {
    input.off('end', end).off('close', end).unpipe(keys).pause();
    signal?.removeEventListener('abort', end);
  }
}

/**
 * Ctrl-Z does nothing at a question. readline would stop the process itself and come back deaf: what is typed next, such
 * as a key, would go to the shell in clear.
 */
function withoutSuspend(input: PromptStreams['input'] & { isTTY?: boolean }): Transform {
  const suspend = 0x1a;
  const keys = new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      done(
        null,
        Buffer.from(chunk).filter((byte) => byte !== suspend),
      ),
  });
  return input.pipe(
    Object.assign(keys, { isTTY: input.isTTY, setRawMode: (mode: boolean) => setRawMode(input, mode) }),
  );
}

/** A terminal whose size was never set says 0 by 0 (`docker run -t`, `expect`); clack would draw one letter a line. */
function withSize(output: Writable): Writable {
  if (!('columns' in output) || output.columns !== 0) return output;
  return new Proxy(output, {
    get: (target, name) => {
      if (name === 'columns') return 80;
      if (name === 'rows') return 24;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
