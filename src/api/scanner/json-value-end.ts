import { byte, isSpace } from './bytes.ts';

/** What one byte says of the end of a value. */
const goesOn = -1;
/** The value ended before it, or with it. */
const endsBefore = 0;
const endsWith = 1;

/**
 * Finds where a JSON value ends, in bytes that may come in pieces. It goes by brackets and quotes alone: of a legal value
 * it finds the end, and what is not legal is for the parser to refuse.
 */
export class ExtentFinder {
  #depth = 0;
  #begun = false;
  #inText = false;
  #escaped = false;

  /** To be called before each value. */
  restart(): void {
    this.#depth = 0;
    this.#begun = false;
    this.#inText = false;
    this.#escaped = false;
  }

  /**
   * Reads on from `start` up to `end`.
   * @returns where the value ends, or -1 where it goes on behind `end`
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at += 1) {
      const value = bytes[at] ?? 0;
      const verdict = this.#inText ? this.#text(value) : this.#structure(value);
      if (verdict !== goesOn) return at + verdict;
      this.#begun = true;
    }
    return -1;
  }

  #text(value: number): number {
    if (this.#escaped) this.#escaped = false;
    else if (value === byte.backslash) this.#escaped = true;
    else if (value === byte.quote) this.#inText = false;
    return this.#inText || this.#depth > 0 ? goesOn : endsWith;
  }

  #structure(value: number): number {
    const nested = this.#depth > 0;
    if (value === byte.closeBrace || value === byte.closeBracket) {
      if (!nested) return endsBefore;
      this.#depth -= 1;
      return this.#depth > 0 ? goesOn : endsWith;
    }
    const opens = value === byte.openBrace || value === byte.openBracket;
    if (!nested && (value === byte.comma || isSpace(value))) return endsBefore;
    // A number or a word is over where something else begins.
    if (!nested && this.#begun && (opens || value === byte.quote)) return endsBefore;
    if (opens) this.#depth += 1;
    this.#inText = value === byte.quote;
    return goesOn;
  }
}
