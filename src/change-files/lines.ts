/** Line ends from `from` up to `to`: LF, CRLF and a CR by itself are one each. */
export function countLineEnds(text: string, from = 0, to = text.length): number {
  // A search in the whole text would run past `to`, again each time.
  const part = from === 0 && to === text.length ? text : text.slice(from, to);
  let count = 0;
  for (let at = part.indexOf('\n'); at !== -1; at = part.indexOf('\n', at + 1)) count += 1;
  for (let at = part.indexOf('\r'); at !== -1; at = part.indexOf('\r', at + 1)) {
    if (part[at + 1] !== '\n') count += 1;
  }
  return count;
}

/** The longest row that is read, in UTF-16 code units: no honest one is near, and an unclosed quote ends here. */
export const longestRow = 1024 * 1024;
