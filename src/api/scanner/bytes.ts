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
 * What the readers return instead of a place: it is not what they read, or it is not there to its end. They never read
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
