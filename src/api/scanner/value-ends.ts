import { byte, isDigit, isExponent, isSpace, skipSpace, textEnd, unread } from './bytes.ts';
import { NameReader, type NameSet } from './names.ts';

/** Deeper values are left to the exact decoder, whose own limit is the stack. */
const deepest = 256;

const words = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]));

/** Finds the end of the value of an unknown field, and checks that it is valid JSON. */
export class ValueSkipper {
  readonly #names: NameSet;
  readonly #name = new NameReader();

  constructor(names: NameSet) {
    this.#names = names;
  }

  /** @returns the end of the value that begins at `at`, or `unread`, also if an object may repeat a name */
  end(bytes: Uint8Array, at: number, depth = 0): number {
    const first = bytes[at] ?? 0;
    if (first === byte.quote) return textEnd(bytes, at);
    if (first === byte.minus || isDigit(first)) return numberEnd(bytes, at);
    if (depth === deepest) return unread;
    if (first === byte.openBrace) return this.#objectEnd(bytes, at, depth + 1);
    return first === byte.openBracket ? this.#arrayEnd(bytes, at, depth + 1) : wordEnd(bytes, at, first);
  }

  #objectEnd(bytes: Uint8Array, start: number, depth: number): number {
    const object = this.#names.startObject();
    let at = skipSpace(bytes, start + 1);
    if (bytes[at] === byte.closeBrace) return at + 1;
    for (;;) {
      at = this.#name.read(bytes, at);
      if (at === unread || !this.#names.add(object, this.#name.hash)) return unread;
      at = skipSpace(bytes, at);
      if (bytes[at] !== byte.colon) return unread;
      at = this.end(bytes, skipSpace(bytes, at + 1), depth);
      if (at === unread) return unread;
      at = skipSpace(bytes, at);
      if (bytes[at] !== byte.comma) return bytes[at] === byte.closeBrace ? at + 1 : unread;
      at = skipSpace(bytes, at + 1);
    }
  }

  #arrayEnd(bytes: Uint8Array, start: number, depth: number): number {
    let at = skipSpace(bytes, start + 1);
    if (bytes[at] === byte.closeBracket) return at + 1;
    for (;;) {
      at = this.end(bytes, at, depth);
      if (at === unread) return unread;
      at = skipSpace(bytes, at);
      if (bytes[at] !== byte.comma) return bytes[at] === byte.closeBracket ? at + 1 : unread;
      at = skipSpace(bytes, at + 1);
    }
  }
}

function numberEnd(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === byte.minus ? start + 1 : start;
  let at = digitsEnd(bytes, first);
  if (at === first || (bytes[first] === byte.zero && at > first + 1)) return unread;
  if (bytes[at] === byte.point) {
    const fraction = at + 1;
    at = digitsEnd(bytes, fraction);
    if (at === fraction) return unread;
  }
  if (!isExponent(bytes[at])) return at;
  const exponent = bytes[at + 1] === byte.minus || bytes[at + 1] === byte.plus ? at + 2 : at + 1;
  at = digitsEnd(bytes, exponent);
  return at === exponent ? unread : at;
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at += 1;
  return at;
}

function wordEnd(bytes: Uint8Array, start: number, first: number): number {
  const word = words.get(first);
  if (word === undefined) return unread;
  for (let index = 1; index < word.length; index += 1) if (bytes[start + index] !== word[index]) return unread;
  return start + word.length;
}

/** How one byte affects the end of a value. */
const goesOn = -1;
/** The value ended before this byte, or with it. */
const endsBefore = 0;
const endsWith = 1;

/**
 * Finds the end of a JSON value in bytes that may arrive in pieces. It only follows brackets and quotes, so it finds
 * the end of a valid value; the parser rejects an invalid one.
 */
export class ExtentFinder {
  #depth = 0;
  #begun = false;
  #inText = false;
  #escaped = false;

  /** Call this before each value. */
  restart(): void {
    this.#depth = 0;
    this.#begun = false;
    this.#inText = false;
    this.#escaped = false;
  }

  /**
   * Continues from `start` up to `end`.
   * @returns the end of the value, or -1 if it continues after `end`
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
    // A number or a word ends where another value begins.
    if (!nested && this.#begun && (opens || value === byte.quote)) return endsBefore;
    if (opens) this.#depth += 1;
    this.#inText = value === byte.quote;
    return goesOn;
  }
}
