/** The bytes that have a meaning in JSON. */
export const byte = {
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  tilde: 0x7e,
} as const;

/** What the readers of plain items return for what is not plain, or not there to its end. */
export const notPlain = -1;

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
