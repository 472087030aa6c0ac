import { harmless } from '../output/terminal.ts';
import { redactorOf, singleLine } from '../shared/sanitize.ts';
import type { Context, Output, Prompts } from './context.ts';

type Redact = (text: string) => string;

/**
 * Wraps a context so that whatever is written to its streams is made safe here:
 *
 * - Text on a terminal, result or message, can do no harm and shows no key that was sent.
 * - stderr shows no key that was sent, wherever it goes.
 * - Text on stdout to a pipe or a file is data and stays unchanged.
 */
export function guardedContext(context: Context): Context {
  const keys = new Set<string>();
  let redactKeys: Redact = (text) => text;
  const redact: Redact = (text) => redactKeys(text);
  return {
    ...context,
    stdout: guardedOutput(context.stdout, { redact, always: false }),
    stderr: withLineAfterInterrupt(guardedOutput(context.stderr, { redact, always: true }), context.interrupted),
    openTransport: (options) => {
      const transport = context.openTransport(options);
      return (request) => {
        const key = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
        // A key is hidden from its first request on, because the service can only repeat it after that.
        if (!keys.has(key)) redactKeys = redactorOf(keys.add(key));
        return transport(request);
      };
    },
    openPager: async (command) => {
      const pager = await context.openPager(command);
      return { ...pager, write: (text) => pager.write(redact(harmless(text))) };
    },
    prompts: guardedPrompts(context.prompts, redact),
  };
}

function guardedOutput(output: Output, { redact, always }: { redact: Redact; always: boolean }): Output {
  // A chunk may end within a character.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const textOf = (chunk: string | Uint8Array) =>
    typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
  return {
    get isTerminal() {
      return output.isTerminal;
    },
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    redact,
    write: (chunk) => {
      if (output.isTerminal) return output.write(redact(harmless(textOf(chunk))));
      return output.write(always ? redact(textOf(chunk)) : chunk);
    },
  };
}

/**
 * Starts a new line before the first output after Ctrl-C, which leaves `^C` at the cursor of a terminal. A redrawn line
 * begins with a carriage return and overwrites the `^C`.
 */
function withLineAfterInterrupt(stderr: Output, interrupted: AbortSignal): Output {
  const { write } = stderr;
  let isDone = false;
  return Object.assign(stderr, {
    write: (chunk: string | Uint8Array) => {
      if (isDone || !interrupted.aborted || !stderr.isTerminal) return write(chunk);
      isDone = true;
      return write(typeof chunk === 'string' && !chunk.startsWith('\r') ? `\n${chunk}` : chunk);
    },
  });
}

/** Redacts each question and turns it into one line of text, even if a name in it contains line ends. */
function guardedPrompts(prompts: Prompts, redact: Redact): Prompts {
  const shown = (question: string) => redact(singleLine(question));
  return {
    password: (question) => prompts.password(shown(question)),
    confirm: (question, typed) => prompts.confirm(shown(question), typed),
    text: (question) => prompts.text(shown(question)),
  };
}
