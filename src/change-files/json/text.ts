/** Finds where JSON values begin and end, without parsing them. */

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** After the white space that begins at `start`. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/**
 * Where the value that begins at `start` has ended, as far as quotes and brackets tell; what no value begins with ends
 * before a comma, a bracket, a quote or white space. Undefined where the text ends first.
 */
export function endOfValue(text: string, start: number): number | undefined {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first === openBrace || first === openBracket) return endOfNested(text, start);
  for (let at = start + 1; at < text.length; at += 1) {
    if (',[]{}" \n\r\t'.includes(text.charAt(at))) return at;
  }
  return undefined;
}

/** After the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number | undefined {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    // Of an even number of backslashes each is the escape of another, and none that of the quote.
    if ((at - before) % 2 === 1) return at + 1;
    at = text.indexOf('"', at + 1);
  }
  return undefined;
}

function endOfNested(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openBrace || code === openBracket) {
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (code === quote) {
      const end = endOfString(text, at);
      if (end === undefined) return undefined;
      at = end - 1;
    }
  }
  return undefined;
}
