/** The bytes that have a meaning in JSON. */
export const byte = {
  space: 0x20,
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  u: 0x75,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  /** The last ASCII byte. */
  delete: 0x7f,
} as const;

/**
 * Returned by readers instead of a position if the value is of another kind or incomplete. Readers never go past the
 * zero byte after the last byte, because that is nowhere valid in JSON.
 */
export const unread = -1;

export function isSpace(value: number | undefined): boolean {
  if (value === undefined || value > byte.space) return false;
  return value === byte.space || value === 0x0a || value === 0x0d || value === 0x09;
}

/** Returns the end of the white space that begins at `at`. Another byte must follow it. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isSpace(bytes[end])) end += 1;
  return end;
}

export function isDigit(value = 0): boolean {
  return value >= byte.zero && value <= byte.nine;
}

/** Reports whether a byte is `e` or `E`. */
export function isExponent(value = 0): boolean {
  return (value | 0x20) === 0x65;
}

/** A byte that is part of neither a number nor plain text, so readers stop there without checking for the end. */
const stop = 0;
/** Space for it, and for readers that read several bytes at once. */
const slack = 16;

/** The bytes of a body that have arrived and are not read yet, in one buffer. */
export class UnreadBytes {
  bytes = new Uint8Array(128 * 1024);
  view = new DataView(this.bytes.buffer);
  /** The position of the next byte to read, and the end. A zero byte follows the last byte. */
  at = 0;
  end = 0;
  /** Number of bytes of the body before `bytes`. */
  #before = 0;

  /** Returns the position in the body of a position in `bytes`, from 0. */
  offset(at: number): number {
    return this.#before + at;
  }

  /** Number of bytes received so far. */
  get received(): number {
    return this.#before + this.end;
  }

  /** Appends bytes. Positions in `bytes` change: what was at `at` is now at 0. */
  add(chunk: Uint8Array): void {
    const left = this.end - this.at;
    const needed = left + chunk.length + slack;
    const target = needed <= this.bytes.length ? this.bytes : new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    if (target !== this.bytes) target.set(this.bytes.subarray(this.at, this.end));
    else if (this.at > 0) target.copyWithin(0, this.at, this.end);
    target.set(chunk, left);
    target[left + chunk.length] = stop;
    if (target !== this.bytes) this.view = new DataView(target.buffer);
    this.bytes = target;
    this.#before += this.at;
    this.at = 0;
    this.end = left + chunk.length;
  }
}

/** A text of at least four bytes, compared four bytes at a time. */
export class Fragment {
  readonly length: number;
  readonly #first: number;
  /** The position of the middle part, which may overlap the others. */
  readonly #middleAt: number;
  readonly #middle: number;
  readonly #last: number;

  /** @param text of 4 to 12 bytes */
  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.#middleAt = Math.min(4, bytes.length - 4);
    this.#first = bytes.readUInt32LE(0);
    this.#middle = bytes.readUInt32LE(this.#middleAt);
    this.#last = bytes.readUInt32LE(bytes.length - 4);
  }

  /** Reports whether the text is at a position. At least as many bytes must follow, of any value. */
  isAt(view: DataView, at: number): boolean {
    return (
      view.getUint32(at, true) === this.#first &&
      view.getUint32(at + this.#middleAt, true) === this.#middle &&
      view.getUint32(at + this.length - 4, true) === this.#last
    );
  }
}

/** 1 for each plain byte. */
const plain = Uint8Array.from({ length: 256 }, (_, value) =>
  value >= byte.space && value <= byte.delete && value !== byte.quote && value !== byte.backslash ? 1 : 0,
);

/** Reports whether a byte is a character of a text by itself, without an escape. */
export function isPlain(value: number): boolean {
  return plain[value] === 1;
}

/** The characters that may follow a backslash, except `u`. */
const escapes = new Map(
  [...'"\\/bfnrt'].map((name, index) => [name.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(index)]),
);

/**
 * Checks the text whose opening quote is at `start`: its escapes, its UTF-8, and that it has no control characters.
 * @returns the position after the closing quote, or `unread`
 */
export function textEnd(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; ; ) {
    const value = bytes[at] ?? 0;
    if (isPlain(value)) at += 1;
    else if (value === byte.quote) return at + 1;
    else {
      const length = characterLength(bytes, at);
      if (length === 0) return unread;
      at += length;
    }
  }
}

/** Returns the number of bytes of the character at `at` (in UTF-8, or an escape); 0 if it is invalid. */
export function characterLength(bytes: Uint8Array, at: number): number {
  const value = bytes[at] ?? 0;
  if (value > byte.delete) return sequenceLength(bytes, at);
  if (value !== byte.backslash) return plain[value] ?? 0;
  const name = bytes[at + 1] ?? 0;
  if (name !== byte.u) return escapes.has(name) ? 2 : 0;
  for (let index = 2; index < 6; index += 1) if (hexDigit(bytes[at + index]) < 0) return 0;
  return 6;
}

/**
 * Returns the number of bytes of a non-ASCII character by RFC 3629: no overlong forms, no surrogates, none above
 * U+10FFFF.
 */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (let index = 2; index < length; index += 1) if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

/**
 * Returns the code point of the valid character at `at`, which has `length` bytes. An escape may be half of a surrogate
 * pair.
 */
export function codePointAt(bytes: Uint8Array, at: number, length: number): number {
  const value = bytes[at] ?? 0;
  if (value === byte.backslash) return length === 6 ? hexAt(bytes, at + 2) : (escapes.get(bytes[at + 1] ?? 0) ?? 0);
  if (length === 1) return value;
  let point = value & (0xff >> (length + 1));
  for (let index = 1; index < length; index += 1) point = (point << 6) | ((bytes[at + index] ?? 0) & 0x3f);
  return point;
}

function hexAt(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let index = 0; index < 4; index += 1) value = value * 16 + hexDigit(bytes[at + index]);
  return value;
}

/** Returns -1 for any other byte. */
function hexDigit(value = 0): number {
  if (value >= byte.zero && value <= byte.nine) return value - byte.zero;
  const letter = (value | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
