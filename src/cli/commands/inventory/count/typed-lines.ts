/** The lines that a person, or a scanner, has typed so far. */
export interface Typed {
  /** Lines that ended with this piece. */
  readonly lines: readonly string[];
  /** The beginning of the next line. */
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
