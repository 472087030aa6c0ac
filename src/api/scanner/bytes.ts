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
  /** The last that is a character by itself. */
  delete: 0x7f,
} as const;

/**
 * Returned by readers instead of a place: it is not what they read, or it is not there to its end. They never read
 * past the zero byte behind the last, since that is legal nowhere in JSON.
 */
export const unread = -1;

export function isSpace(value: number | undefined): boolean {
  if (value === undefined || value > byte.space) return false;
  return value === byte.space || value === 0x0a || value === 0x0d || value === 0x09;
}

/** Where the white space that begins at `at` ends. Another byte must follow it. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isSpace(bytes[end])) end += 1;
  return end;
}

export function isDigit(value = 0): boolean {
  return value >= byte.zero && value <= byte.nine;
}

/** Whether it begins an exponent: `e` or `E`. */
export function isExponent(value = 0): boolean {
  return (value | 0x20) === 0x65;
}

/** A byte that is part of neither a number nor plain text, so that readers stop there without looking for the end. */
const stop = 0;
/** Room for it, and for readers that look at several bytes at once. */
const slack = 16;

/** The bytes of a body that have come and are not read yet, in one piece. */
export class UnreadBytes {
  bytes = new Uint8Array(128 * 1024);
  view = new DataView(this.bytes.buffer);
  /** Where the next byte to read is, and where the bytes end. Behind the last there is a zero byte. */
  at = 0;
  end = 0;
  /** How many bytes of the body lie before `bytes`. */
  #before = 0;

  /** Where in the body a place in `bytes` is, from 0. */
  offset(at: number): number {
    return this.#before + at;
  }

  /** How many bytes have come in all. */
  get received(): number {
    return this.#before + this.end;
  }

  /** Adds bytes behind the others. Places in `bytes` change: what was at `at` is at the beginning. */
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

/** A piece of text of at least four bytes, which is compared four bytes at a time. */
export class Fragment {
  readonly length: number;
  readonly #first: number;
  /** Where the middle begins: it may overlap with the others. */
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

  /** Whether it stands at a place. There must be as many bytes, whatever they are. */
  isAt(view: DataView, at: number): boolean {
    return (
      view.getUint32(at, true) === this.#first &&
      view.getUint32(at + this.#middleAt, true) === this.#middle &&
      view.getUint32(at + this.length - 4, true) === this.#last
    );
  }
}

/** 1 for each byte that is. */
const plain = Uint8Array.from({ length: 256 }, (_, value) =>
  value >= byte.space && value <= byte.delete && value !== byte.quote && value !== byte.backslash ? 1 : 0,
);

/** Whether the byte is a character of a text by itself, and no escape. */
export function isPlain(value: number): boolean {
  return plain[value] === 1;
}

/** The characters that may follow a backslash, except for `u`. */
const escapes = new Map(
  [...'"\\/bfnrt'].map((name, index) => [name.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(index)]),
);

/**
 * Checks the text whose opening quote is at `start`: its escapes, its UTF-8, and that it has no control characters.
 * @returns the place behind the closing quote, or `unread`
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

/** The bytes of the character at `at`: one of UTF-8, or one escape. 0 if it is not legal. */
export function characterLength(bytes: Uint8Array, at: number): number {
  const value = bytes[at] ?? 0;
  if (value > byte.delete) return sequenceLength(bytes, at);
  if (value !== byte.backslash) return plain[value] ?? 0;
  const name = bytes[at + 1] ?? 0;
  if (name !== byte.u) return escapes.has(name) ? 2 : 0;
  for (let index = 2; index < 6; index += 1) if (hexDigit(bytes[at + index]) < 0) return 0;
  return 6;
}

/** The bytes of a character that is not ASCII, after RFC 3629: none too long, no surrogates, none above U+10FFFF. */
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

/** The code point of the legal character at `at`, which is that many bytes long. An escape may be half of a pair. */
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

/** -1 if it is not one. */
function hexDigit(value = 0): number {
  if (value >= byte.zero && value <= byte.nine) return value - byte.zero;
  const letter = (value | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
