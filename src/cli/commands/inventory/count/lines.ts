/** Maximum length of a line in characters. A longer line is cut and ends in `…`, so it is not a code. */
const maxLine = 1000;

/** Matches the end of one line: of a frame, a TAB, a CR and an LF, in this order. */
const oneEnd = /^\x03?\t?\r?\n?$/;
/** Matches keys that send a sequence, such as the arrows, and the marks around pasted text. */
const sequences = /\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])/g;
/** Matches an incomplete escape sequence at the end of a chunk. */
const openSequence = /\x1b(?:\[[0-9;?]*|O)?$/;

/**
 * Splits typed or scanned input into lines, which end in LF, CR or TAB, also one of them after another. A scan that begins
 * with STX ends with ETX as well.
 */
export class LineCutter {
  #decoder: ReturnType<typeof decoderFor> | undefined;
  #held = '';
  #rest = '';
  /** The line end before the next character, if there was one: another one may belong to it. */
  #end = '';

  /**
   * @param hasKeys whether the input comes from a terminal in raw mode, where the terminal echoes nothing and some keys
   * edit the line
   */
  constructor(private readonly hasKeys: boolean) {}

  /** The incomplete next line. */
  get rest(): string {
    return this.#rest;
  }

  /**
   * Adds a chunk of the input.
   * @param chunk undefined at the end of the input
   * @returns the completed lines; with `isEnded`, Ctrl-D at the beginning of a line has ended the input
   */
  take(chunk?: Uint8Array): { readonly lines: readonly string[]; readonly isEnded: boolean } {
    this.#decoder ??= decoderFor(chunk);
    let text = this.#held + this.#decoder.decode(chunk, { stream: chunk !== undefined });
    if (this.hasKeys) {
      text = text.replace(sequences, '');
      this.#held = openSequence.exec(text)?.[0] ?? '';
    }
    const lines: string[] = [];
    for (const character of text.slice(0, text.length - this.#held.length)) {
      if (this.hasKeys && character === '\x04' && this.#rest === '') return { lines, isEnded: true };
      const isFramed = character === '\x03' && this.#rest.startsWith('\x02');
      const isEnd = isFramed || character === '\r' || character === '\n' || character === '\t';
      // The LF of a CRLF does not end another line, nor does what a scanner sends behind a frame or a TAB.
      const isSame = isEnd && this.#end !== '' && oneEnd.test(this.#end + character);
      if (!isEnd) this.#edit(character);
      else if (!isSame) lines.push(this.#takeLine());
      this.#end = isEnd ? (isSame ? this.#end : '') + character : '';
    }
    return { lines, isEnded: false };
  }

  #takeLine(): string {
    const line = this.#rest;
    this.#rest = '';
    return line;
  }

  #edit(character: string): void {
    const key = this.hasKeys ? character : '';
    // Backspace deletes a character, Ctrl-U and Ctrl-W the line. Ctrl-C, and Ctrl-D within a line, are not part of it.
    if (key === '\x7f' || key === '\b') this.#rest = Array.from(this.#rest).slice(0, -1).join('');
    else if (key === '\x15' || key === '\x17') this.#rest = '';
    else if (key !== '\x03' && key !== '\x04' && this.#rest.length < maxLine) {
      this.#rest += this.#rest.length < maxLine - 1 ? character : '…';
    }
  }
}

/** Data collectors of Windows write UTF-16, with a byte order mark. */
function decoderFor(start: Uint8Array | undefined) {
  const [first, second] = start ?? [];
  return new TextDecoder(
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8',
  );
}

/**
 * Yields the lines of each chunk together, so that they are processed before the next chunk is requested. Without
 * `onKeys`, the last line may lack its line end. A line that an interruption cuts off is dropped.
 * @param onKeys draws the incomplete next line; given if the input consists of the keys of a terminal
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  onKeys?: (rest: string, hasLines: boolean) => Promise<void>,
): AsyncGenerator<readonly string[]> {
  const cutter = new LineCutter(onKeys !== undefined);
  for await (const chunk of chunks) {
    const { lines, isEnded } = cutter.take(chunk);
    await onKeys?.(cutter.rest, lines.length > 0);
    if (lines.length > 0) yield lines;
    if (isEnded) return;
  }
  if (onKeys !== undefined) return;
  cutter.take();
  if (cutter.rest !== '') yield [cutter.rest];
}

/** Returns the lines of a whole text. */
export function linesOfText(text: string): readonly string[] {
  const cutter = new LineCutter(false);
  const { lines } = cutter.take(Buffer.from(text));
  return cutter.rest === '' ? lines : [...lines, cutter.rest];
}
