import type { Parsed } from './variables.ts';

/** No header takes more, and no service makes longer ones. */
const longestKey = 4096;

/**
 * Reads an API key as somebody pasted or piped it. White space around it goes away; what could not travel in a header,
 * or is evidently more than a key, is refused. A fault never repeats any of the text.
 */
export function parseKey(text: string): Parsed<string> {
  const key = text.trim();
  if (key === '') return fault('the key is empty');
  if (/^(authorization\s*:|bearer(\s|$))/i.test(key)) {
    return fault('the key begins with the word "Bearer" or "Authorization": give only what comes after it');
  }
  if (/^["'`]|["'`]$/.test(key)) return fault('the key is in quotation marks: leave them out');
  if (/\s/.test(key)) return fault('the key contains white space or more than one line: give the key alone');
  if (!/^[\x21-\x7e]+$/.test(key)) return fault('the key contains characters that no key has: copy it again');
  if (key.length > longestKey) return fault(`the key is longer than ${longestKey} characters: this is not a key`);
  return { ok: true, value: key };
}

/** Returns the part of a key that may be shown: `…` and its last 4 characters; of one shorter than 8 characters, nothing. */
export function maskKey(key: string): string {
  return key.length < 8 ? '…' : `…${key.slice(-4)}`;
}

function fault(words: string): Parsed<string> {
  return { ok: false, fault: words };
}
