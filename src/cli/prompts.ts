import { type Readable, Transform, Writable } from 'node:stream';
import { InterruptedError } from '../shared/errors.ts';
import type { Prompts } from './context.ts';

/** Questions on a terminal. The library that draws them is loaded with the first question. */
export function createPrompts(streams: PromptStreams): Prompts {
  return {
    password: (question) => ask(streams, 'password', question),
    // `clack.confirm` is not used, because it accepts a single key: a scanned bar code or a word typed ahead could contain a Y.
    confirm: async (question) => isYes(await ask(streams, 'text', `${question} (y/N)`)),
    text: (question) => ask(streams, 'text', question),
  };
}

/** Clack would wait forever if its input ends, as on a closed terminal, so that ends the question, too. */
async function ask({ input, output, signal }: PromptStreams, kind: 'password' | 'text', message: string) {
  const clack = await import('@clack/prompts');
  const ended = new AbortController();
  const end = () => ended.abort();
  const keys = keysOf(input);
  input.on('end', end).on('close', end);
  signal?.addEventListener('abort', end);
  try {
    if (signal?.aborted === true || input.readableEnded || input.destroyed) end();
    const answer = await clack[kind]({ input: keys, output: withSize(output), signal: ended.signal, message });
    if (clack.isCancel(answer)) throw interruptedQuestion();
    // If only Enter is pressed, the answer is undefined, not an empty text.
    return answer ?? '';
  } finally {
    input.off('end', end).off('close', end).unpipe(keys).pause();
    signal?.removeEventListener('abort', end);
  }
}

/**
 * Ctrl-Z is ignored. readline would stop the process and lose its settings, so the next input, such as a key, would be echoed.
 * Ctrl-D, which clack doesn't know, is Ctrl-C.
 */
function keysOf(input: PromptStreams['input'] & { isTTY?: boolean }): Transform {
  const [interrupt, endOfInput, suspend] = [0x03, 0x04, 0x1a];
  const keys = new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      done(
        null,
        Buffer.from(chunk.filter((byte) => byte !== suspend).map((byte) => (byte === endOfInput ? interrupt : byte))),
      ),
  });
  return input.pipe(
    Object.assign(keys, { isTTY: input.isTTY, setRawMode: (mode: boolean) => setRawMode(input, mode) }),
  );
}

/**
 * A terminal whose size was never set reports 0 by 0 (`docker run -t`, `expect`); clack would draw one letter per line.
 */
function withSize(output: Writable): Writable {
  if (!('columns' in output) || output.columns !== 0) return output;
  const sized = new Writable({
    write(chunk, _encoding, done) {
      output.write(chunk);
      done();
    },
  });
  return Object.assign(sized, { isTTY: true, columns: 80, rows: 24 });
}

export interface PromptStreams {
  readonly input: Readable & { setRawMode?(mode: boolean): unknown };
  /** Where questions are shown: stderr, so that stdout only has results. */
  readonly output: Writable;
  /** Ends a pending question, like Ctrl-C. */
  readonly signal?: AbortSignal | undefined;
}

interface Line {
  readonly text: string;
  readonly rest: Buffer;
}

/** Returns the typed text once it is complete; undefined: more input follows. */
type Answer = Line | 'cancelled' | undefined;

/**
 * Questions on a terminal that only prints (`TERM=dumb`): one line each, which the terminal lets users edit. Nothing is
 * drawn.
 */
export function createPlainPrompts(streams: PromptStreams): Prompts {
  const { input, output } = streams;
  const show = (question: string) => output.write(/[?):]$/.test(question) ? `${question} ` : `${question}: `);
  const text = async (question: string) => {
    show(question);
    return answered(streams, firstLine);
  };
  return {
    password: async (question) => {
      // The terminal would show what is typed.
      setRawMode(input, true);
      show(question);
      try {
        return await answered(streams, hiddenLine);
      } finally {
        setRawMode(input, false);
        output.write('\n');
      }
    },
    confirm: async (question) => isYes(await text(`${question} (y/N)`)),
    text,
  };
}

/** Sets the mode of a terminal. A closed one accepts none: Node would end with a core dump. */
export function setRawMode(input: PromptStreams['input'], mode: boolean): void {
  try {
    input.setRawMode?.(mode);
  } catch {
    // EIO, thrown by the stream because nothing listens for its errors.
  }
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

/** The message if Ctrl-C ends a question and the command has changed nothing before it. */
export const interruptedAsking = 'Interrupted. Nothing was changed';

export function interruptedQuestion(): InterruptedError {
  return new InterruptedError(interruptedAsking);
}

/** Reads until there is an answer. Text typed after it is left for the next question. */
function answered({ input, output, signal }: PromptStreams, answerOf: (typed: Buffer) => Answer): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = Buffer.alloc(0);
    const stop = () => {
      input.off('data', take).off('end', cancel).off('close', cancel).off('error', cancel).pause();
      signal?.removeEventListener('abort', cancel);
    };
    const cancel = () => {
      stop();
      // The next message starts on a new line. A password prompt ends its own line.
      if (answerOf === firstLine) output.write('\n');
      reject(interruptedQuestion());
    };
    const take = (chunk: Buffer) => {
      typed = Buffer.concat([typed, chunk]);
      const answer = answerOf(typed);
      if (answer === undefined) return;
      if (answer === 'cancelled') return cancel();
      stop();
      if (answer.rest.length > 0) input.unshift(answer.rest);
      resolve(answer.text);
    };
    if (signal?.aborted === true || input.readableEnded || input.destroyed) return cancel();
    signal?.addEventListener('abort', cancel);
    input.on('end', cancel).on('close', cancel).on('error', cancel).on('data', take).resume();
  });
}

/** A line as the terminal passes it on once it is complete. */
function firstLine(typed: Buffer): Line | undefined {
  const end = typed.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (end === -1) return undefined;
  // Windows ends a line with both characters; the second must not answer another question.
  const rest = typed.subarray(typed[end] === 0x0d && typed[end + 1] === 0x0a ? end + 2 : end + 1);
  return { text: typed.subarray(0, end).toString('utf8'), rest };
}

/**
 * A line of keys as they are typed: Backspace and Ctrl-U delete; Ctrl-C, Ctrl-D and Escape cancel; other control keys
 * do nothing.
 */
function hiddenLine(typed: Buffer): Answer {
  const line = firstLine(typed);
  const keys = (line?.text ?? typed.toString('utf8')).replace(/\x1b[[O][0-9;]*[A-Za-z~]/g, '');
  if (/[\x03\x04\x1b]/.test(keys)) return 'cancelled';
  if (line === undefined) return undefined;
  const letters: string[] = [];
  for (const key of keys) {
    if (key === '\x7f' || key === '\b') letters.pop();
    else if (key === '\x15') letters.length = 0;
    else if (key >= ' ') letters.push(key);
  }
  return { text: letters.join(''), rest: line.rest };
}
