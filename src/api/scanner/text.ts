import { byte, unread } from './bytes.ts';

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
