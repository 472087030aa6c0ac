import type { Readable, Writable } from 'node:stream';
import { messageLines } from '../output/text-width.ts';
import { InterruptedError } from '../shared/errors.ts';
import { quoted } from '../shared/parsed.ts';
import type { Prompts } from './context.ts';

export interface PromptStreams {
  readonly input: Readable & { setRawMode?(mode: boolean): unknown };
  /** The stream that shows questions. It is stderr, so that stdout has only results. */
  readonly output: Writable & { readonly columns?: number };
  /** Aborts a pending question, like Ctrl-C. */
  readonly signal?: AbortSignal | undefined;
  /** Suspends the process, like Ctrl-Z, and resolves once it continues. Absent where the system can't do that. */
  suspend?(): Promise<void>;
}

interface Line {
  readonly text: string;
  readonly rest: Buffer;
}

/** The typed line, or `cancelled`; undefined until the input has either. */
type Answer = Line | 'cancelled' | undefined;

/**
 * Creates the questions on a terminal. Each answer is one line, and users edit it with the keys of their terminal.
 * Nothing is drawn, so that every terminal and screen reader can show a question. A single key is not an answer,
 * because a scanned bar code could contain a Y.
 */
export function createPrompts(streams: PromptStreams): Prompts {
  const { input, output } = streams;
  const show = (question: string) => {
    const asked = /[?):]$/.test(question) ? question : `${question}:`;
    // A terminal whose size was never set reports 0 columns. The last column is for the space.
    const width = (output.columns || Number.POSITIVE_INFINITY) - 1;
    output.write(`${messageLines(asked, width).join('\n')} `);
  };
  const text = async (question: string) => {
    show(question);
    return answered(streams, firstLine);
  };
  return {
    password: async (question) => {
      // Without raw mode, the terminal would show what is typed.
      setRawMode(input, true);
      show(question);
      const suspend = async (stop: () => Promise<void>) => {
        setRawMode(input, false);
        output.write('\n');
        await stop();
        setRawMode(input, true);
        show(question);
      };
      const { suspend: stop } = streams;
      try {
        return await answered({ ...streams, ...(stop && { suspend: () => suspend(stop) }) }, hiddenLine);
      } finally {
        setRawMode(input, false);
        output.write('\n');
      }
    },
    confirm: async (question, typed) => {
      const how = typed === undefined ? '(y/N)' : `Type ${typed} to continue`;
      const isYes = (answer: string) =>
        typed === undefined ? /^y(es)?$/i.test(answer) : answer.toLowerCase() === typed.toLowerCase();
      let answer = (await text(`${question} ${how}`)).trim();
      while (isScan(answer, typed)) {
        answer = (await text(`${quoted(answer)} is not an answer, and was not counted. ${question} ${how}`)).trim();
      }
      if (typed === undefined || isYes(answer) || /^(no?)?$/i.test(answer)) return isYes(answer);
      return isYes((await text(`${quoted(answer)} is not ${typed}. ${how}, or press Enter to cancel`)).trim());
    },
    text,
  };
}

/**
 * Reports whether an answer has a digit, so that it may be a bar code, scanned while a question was open.
 * @param typed the word that is expected; a word with digits can't be told from a scan
 */
function isScan(answer: string, typed = ''): boolean {
  return /\d/.test(answer) && !/\d/.test(typed);
}

/**
 * Sets the raw mode of a terminal. Ignores the error of a closed terminal, because Node would otherwise end in a core
 * dump.
 */
function setRawMode(input: PromptStreams['input'], mode: boolean): void {
  try {
    input.setRawMode?.(mode);
  } catch {
    // EIO, thrown by the stream because nothing listens for its errors.
  }
}

const ctrlZ = 0x1a;

/** The message if Ctrl-C ends a question before the command has changed anything. */
export const interruptedAsking = 'Interrupted. Nothing was changed';

/** Reads until the input contains an answer. Text typed after the answer is left for the next question. */
function answered(
  { input, output, signal, suspend }: PromptStreams,
  answerOf: (typed: Buffer) => Answer,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = Buffer.alloc(0);
    const stop = () => {
      input.off('data', take).off('end', cancel).off('close', cancel).off('error', cancel).pause();
      signal?.removeEventListener('abort', cancel);
    };
    const cancel = () => {
      stop();
      // The next message must start on a new line. After Ctrl-C, `guardedContext` starts one; a password prompt ends
      // its own line.
      if (answerOf === firstLine && signal?.aborted !== true) output.write('\n');
      reject(new InterruptedError(interruptedAsking));
    };
    const take = (chunk: Buffer) => {
      const kept = chunk.filter((byte) => byte !== ctrlZ);
      typed = Buffer.concat([typed, kept]);
      // Elsewhere the terminal itself suspends the process.
      if (kept.length < chunk.length && answerOf === hiddenLine) void suspend?.();
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

/** Returns the first line, as the terminal passes it on; undefined while its line end is missing. */
function firstLine(typed: Buffer): Line | undefined {
  const end = typed.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (end === -1) return undefined;
  // Windows ends a line with CR and LF. The LF must not answer the next question.
  const rest = typed.subarray(typed[end] === 0x0d && typed[end + 1] === 0x0a ? end + 2 : end + 1);
  return { text: typed.subarray(0, end).toString('utf8'), rest };
}

/**
 * Returns the line that the typed keys make, without a Ctrl-Z: Backspace and Ctrl-U delete; Ctrl-C, Ctrl-D and Escape cancel; other
 * control keys do nothing.
 */
function hiddenLine(typed: Buffer): Answer {
  const line = firstLine(typed);
  // The arrows and the marks around pasted text send sequences.
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
