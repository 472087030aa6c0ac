/** Longer than any code: of a longer line, the beginning is given, which is then no code. */
const longestLine = 1000;

/**
 * The lines of what is typed or scanned, those of one piece together: whoever reads them has dealt with them before the next piece
 * is asked for. A line ends in LF, CR or both. The last one may lack its end; what an interruption cuts off is no line.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  let afterReturn = false;
  for await (const chunk of chunks) {
    const decoded = decoder.decode(chunk, { stream: true });
    if (decoded === '') continue;
    // The LF of a CRLF whose CR ended the piece before.
    const text = afterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    afterReturn = decoded.endsWith('\r');
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = (lines.pop() ?? '').slice(0, longestLine);
    if (lines.length > 0) yield lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield [rest];
}
