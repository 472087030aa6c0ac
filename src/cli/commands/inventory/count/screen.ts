import {
  type CountEvent,
  type CountShow,
  type CountSum,
  countPrompt,
  eventLines,
  sumText,
} from '../../../../output/count-text.ts';
import { bell, drawsLive, type Paint, wipeLine } from '../../../../output/terminal.ts';
import { singleLine } from '../../../../shared/sanitize.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { createLiveLine } from '../../../progress/live-line.ts';

export interface CountScreen {
  /** To be called before the first line is read. Absent: there is nothing to draw. */
  begin?(): Promise<void>;
  /** Draws what is typed of the next line. Absent: the terminal itself shows it. @param isShownNext `show` follows, and draws it */
  typing?(rest: string, isShownNext: boolean): Promise<void>;
  show(events: readonly CountEvent[]): Promise<void>;
  /** To be called when no more lines are read. @param ended no line end was typed: the sum stays as it is */
  stop?(ended: boolean): Promise<void>;
}

/**
 * - A person at a terminal sees what came of each line, and below it the sum, behind which the next one is typed.
 * - Where that can't be drawn (`TERM=dumb`, stderr is no terminal) the sum is in each line.
 * - Scans that come through a pipe are shown on one line that changes, if there is a terminal; what is unknown stays, once.
 */
export function createCountScreen(invocation: Invocation, sum: () => CountSum, show: CountShow): CountScreen {
  const { stdin } = invocation.context;
  const draws = drawsLive(invocation.context) && invocation.globals.quiet !== true;
  if (stdin.isTerminal) return draws ? promptScreen(invocation, sum, show) : plainScreen(invocation, sum, show);
  return pipeScreen(invocation, sum, { ...show, draws });
}

function promptScreen(invocation: Invocation, sum: () => CountSum, show: CountShow): CountScreen {
  const { stderr } = invocation.context;
  let typed = '';
  const prompt = () => {
    const width = stderr.columns ?? 80;
    const text = countPrompt(sum(), width, show.mode);
    // Of a code that is longer than the line, the end is what the hand is at.
    const room = Math.max(1, width - text.length - 1);
    return stderr.write(text + singleLine(typed).slice(-room));
  };
  return {
    begin: prompt,
    typing: async (rest, isShownNext) => {
      typed = rest;
      if (isShownNext) return;
      await stderr.write(wipeLine);
      await prompt();
    },
    show: async (events) => {
      await stderr.write(wipeLine);
      await showEvents(invocation, events, sum(), show);
      await prompt();
    },
    stop: async (ended) => stderr.write(ended ? '\n' : wipeLine),
  };
}

function plainScreen(invocation: Invocation, sum: () => CountSum, show: CountShow): CountScreen {
  return {
    show: async (events) => {
      const isPlain = ({ kind }: CountEvent) => kind === 'sum' || kind === 'help' || kind === 'word';
      await showEvents(invocation, events, sum(), show, (event) =>
        isPlain(event) ? '' : `. Sum: ${sumText(sum(), show.mode)}`,
      );
    },
  };
}

function pipeScreen(
  invocation: Invocation,
  sum: () => CountSum,
  show: CountShow & { readonly draws: boolean },
): CountScreen {
  const { context } = invocation;
  const line = show.draws
    ? createLiveLine(context, {
        text: (width) => sumText(sum(), show.mode).slice(0, width),
        countsFor: () => undefined,
      })
    : undefined;
  const seen = new Set<string>();
  const isNews = (event: CountEvent): boolean => {
    if (event.kind !== 'unknown' || seen.has(event.code)) return false;
    seen.add(event.code);
    return true;
  };
  return {
    show: async (events) => {
      const news = events.filter(isNews);
      if (news.length > 0) {
        await line?.wipe();
        await showEvents(invocation, news, sum(), show);
      }
      line?.changed();
    },
    stop: async () => line?.stop(),
  };
}

/** An unknown code is heard, and shown with `--quiet` too: without it a shelf would be counted wrongly. */
async function showEvents(
  { messages, context }: Invocation,
  events: readonly CountEvent[],
  sum: CountSum,
  show: CountShow,
  tail: (event: CountEvent) => string = () => '',
): Promise<void> {
  const { stderr } = context;
  const isUnknown = (event: CountEvent) => event.kind === 'unknown' && event.units > 0;
  if (events.some(isUnknown) && stderr.isTerminal) await stderr.write(bell);
  for (const event of events) {
    const linesOf = (paint: Paint, width: number) => {
      return eventLines(event, sum, show, paint, width).map((line) => line + tail(event));
    };
    await messages.show(linesOf, { always: isUnknown(event) });
  }
}

export interface Typed {
  readonly lines: readonly string[];
  readonly rest: string;
  /** Ctrl-D at the beginning of a line. */
  readonly isEnded: boolean;
}

/** Keys that send a sequence, such as the arrows, and what a terminal puts around pasted text. */
const sequences = /\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])/g;
/** The beginning of one, at the end of a piece. */
const openSequence = /\x1b(?:\[[0-9;?]*|O)?$/;
/** Characters: longer than any code. */
const longestLine = 1000;

/** Edits the line that is typed at a terminal in raw mode, where nothing is echoed that petstock does not draw. */
export class LineEditor {
  readonly #decoder = new TextDecoder();
  #held = '';
  #rest = '';
  #afterReturn = false;

  take(chunk: Uint8Array): Typed {
    const text = (this.#held + this.#decoder.decode(chunk, { stream: true })).replace(sequences, '');
    this.#held = openSequence.exec(text)?.[0] ?? '';
    const lines: string[] = [];
    for (const character of text.slice(0, text.length - this.#held.length)) {
      if (character === '\x04' && this.#rest === '') return { lines, rest: '', isEnded: true };
      if (character === '\r' || character === '\n') {
        // The LF of a CRLF ends no line of its own.
        if (character === '\r' || !this.#afterReturn) lines.push(this.#takeLine());
      } else this.#edit(character);
      this.#afterReturn = character === '\r';
    }
    return { lines, rest: this.#rest, isEnded: false };
  }

  #takeLine(): string {
    const line = this.#rest;
    this.#rest = '';
    return line;
  }

  #edit(character: string): void {
    // Backspace; Ctrl-U and Ctrl-W take all of it back. Ctrl-C and Ctrl-D within a line are no text.
    if (character === '\x7f' || character === '\b') this.#rest = Array.from(this.#rest).slice(0, -1).join('');
    else if (character === '\x15' || character === '\x17') this.#rest = '';
    else if (character !== '\x03' && character !== '\x04' && this.#rest.length < longestLine) this.#rest += character;
  }
}

/** Yields the lines that are typed, those of one piece together. @param onTyping draws what there is of the next line */
export async function* typedLines(
  keys: AsyncIterable<Uint8Array>,
  onTyping: (rest: string, hasLines: boolean) => Promise<void>,
): AsyncGenerator<readonly string[]> {
  const editor = new LineEditor();
  for await (const chunk of keys) {
    const { lines, rest, isEnded } = editor.take(chunk);
    await onTyping(rest, lines.length > 0);
    if (lines.length > 0) yield lines;
    if (isEnded) return;
  }
}
