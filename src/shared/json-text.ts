/** Returns where the white space that begins at `start` ends. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code <= 0x20; code = text.charCodeAt(at)) {
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at += 1;
  }
  return at;
}

/** Matches a string, a bracket, or the opening quote of an unterminated string. */
const part = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|["[\]{}]/g;

/** Matches the character after a value that is neither a string nor in brackets. */
const end = /[,[\]{}" \n\r\t]/g;

/**
 * Returns where the JSON value that begins at `start` ends, judged by quotes and brackets only. Any text that begins
 * with neither ends before a comma, a bracket, a quote or white space. Undefined if the text ends first.
 */
export function endOfValue(text: string, start: number): number | undefined {
  if (!'"{['.includes(text.charAt(start))) {
    end.lastIndex = start + 1;
    return end.exec(text)?.index;
  }
  part.lastIndex = start;
  let depth = 0;
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [piece] = found;
    if (piece === '"') return undefined;
    if (piece === '{' || piece === '[') depth += 1;
    else if (piece === '}' || piece === ']') depth -= 1;
    if (depth === 0) return part.lastIndex;
  }
  return undefined;
}
