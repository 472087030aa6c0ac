import { isUtf8 } from 'node:buffer';
import { BrokenFileError, broken, type ProblemList } from './problems.ts';

const saveAgain = 'save it as UTF-8 (in a spreadsheet: Save as, "CSV UTF-8") and try again';
const lf = 0x0a;
const cr = 0x0d;

/** The first bytes of files that are not UTF-8 text, as Latin-1, with a message for each. */
const signatures = [
  ['\xff\xfe', `the file is UTF-16 ("Unicode text"): ${saveAgain}`],
  ['\xfe\xff', `the file is UTF-16 ("Unicode text"): ${saveAgain}`],
  ['PK\x03\x04', `the file is a workbook (.xlsx) or an archive, not text: ${saveAgain}`],
  ['\xd0\xcf\x11\xe0', `the file is a workbook (.xls), not text: ${saveAgain}`],
] as const;
const byteOrderMark = '\xef\xbb\xbf';
const maxSignature = 4;

/** Maximum length of a row in UTF-16 code units. No real row comes close to it. */
export const maxRow = 1024 * 1024;

/**
 * Reads the text of a file piece by piece. If the rest can't be understood, adds an error and stops.
 * @param read receives each piece, and an empty piece at the end
 * @throws the errors of `source`
 */
export async function readPieces(
  source: AsyncIterable<Uint8Array>,
  problems: ProblemList,
  read: (piece: string, isLast: boolean) => void,
): Promise<void> {
  try {
    for await (const piece of decodeText(source)) read(piece, false);
    read('', true);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    problems.add(error.fault);
  }
}

/**
 * Yields the text of a UTF-8 file as its bytes arrive, without the byte order mark. No piece ends between the CR and
 * the LF of one line end.
 * @throws BrokenFileError at the first line that is not UTF-8, after the lines before it; the errors of `source`
 */
export async function* decodeText(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let line = 1;
  let isFirst = true;
  for await (const piece of wholeCharacters(source)) {
    const bytes = isFirst ? withoutMark(piece) : piece;
    isFirst = false;
    const text = textOf(bytes);
    yield text;
    line += countLineEnds(text);
    if (Buffer.byteLength(text) < bytes.length) broken(line, `there are characters that are not UTF-8: ${saveAgain}`);
  }
}

/**
 * Yields bytes that end with whole characters. The last character is held back until the next has arrived, because it
 * may be incomplete, or the CR of a CRLF. An LF is held back together with the character before it.
 */
async function* wholeCharacters(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of source) {
    held = Buffer.concat([held, chunk]);
    const last = held.findLastIndex((byte) => (byte & 0xc0) !== 0x80 && byte !== lf);
    const end = last === -1 ? held.length : last;
    // The first piece has to show whether this is text.
    if (end < maxSignature) continue;
    yield held.subarray(0, end);
    held = held.subarray(end);
  }
  yield held;
}

/**
 * Removes a byte order mark.
 * @throws BrokenFileError if the first bytes show that this is not text
 */
function withoutMark(bytes: Buffer): Buffer {
  const start = bytes.toString('latin1', 0, maxSignature);
  const [, message] = signatures.find(([signature]) => start.startsWith(signature)) ?? [];
  if (message !== undefined) broken(1, message);
  return start.startsWith(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;
}

/** Returns the text of all bytes or, if a line is not text, of the lines before it. */
function textOf(bytes: Buffer): string {
  if (isText(bytes)) return bytes.toString();
  let start = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte !== lf && byte !== cr) continue;
    if (!isText(bytes.subarray(start, at))) break;
    start = at + 1;
  }
  return bytes.toString('utf8', 0, start);
}

/** Reports whether bytes are UTF-8 text without a zero byte. UTF-16 has a zero byte in every Latin letter. */
function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Counts line ends between `from` and `to`: LF, CRLF and a single CR count as one each. */
export function countLineEnds(text: string, from = 0, to = text.length): number {
  // A search in the whole text would run past `to` each time.
  const part = from === 0 && to === text.length ? text : text.slice(from, to);
  let count = 0;
  for (let at = part.indexOf('\n'); at !== -1; at = part.indexOf('\n', at + 1)) count += 1;
  for (let at = part.indexOf('\r'); at !== -1; at = part.indexOf('\r', at + 1)) {
    if (part[at + 1] !== '\n') count += 1;
  }
  return count;
}
