import { isUtf8 } from 'node:buffer';
import { broken } from './fault.ts';

const saveAgain = 'save it as "CSV UTF-8" (in a spreadsheet: Save as) and try again';
const lf = 0x0a;
const cr = 0x0d;

/** What a file that is no text begins with, and what to say of it. */
const signatures: readonly { readonly bytes: readonly number[]; readonly message: string }[] = [
  { bytes: [0xff, 0xfe], message: `the file is UTF-16 ("Unicode text"): ${saveAgain}` },
  { bytes: [0xfe, 0xff], message: `the file is UTF-16 ("Unicode text"): ${saveAgain}` },
  { bytes: [0x50, 0x4b, 0x03, 0x04], message: `the file is a workbook (.xlsx) or an archive, not text: ${saveAgain}` },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], message: `the file is a workbook (.xls), not text: ${saveAgain}` },
];

/**
 * The text of a file in UTF-8, without its byte order mark, in pieces of about `pieceBytes` bytes. No piece ends inside
 * of a character or between the CR and the LF of one line end.
 * @throws BrokenFileError at the first line that is not UTF-8; the lines before it have been handed out by then
 */
export async function* decodeText(source: AsyncIterable<Uint8Array>, pieceBytes: number): AsyncGenerator<string> {
  let lines = 0;
  let first = true;
  for await (const { bytes, last } of gather(source, pieceBytes)) {
    const start = first ? startOfText(bytes) : 0;
    first = false;
    const { text, whole } = decode(start === 0 ? bytes : bytes.subarray(start));
    yield text;
    lines += countLineEnds(text);
    if (!whole) broken(lines + 1, `there are characters that are not UTF-8: ${saveAgain}`);
    if (last) return;
  }
}

interface Piece {
  readonly bytes: Buffer;
  readonly last: boolean;
}

async function* gather(source: AsyncIterable<Uint8Array>, pieceBytes: number): AsyncGenerator<Piece> {
  // What a file begins with has to be in the first piece.
  const enough = Math.max(pieceBytes, 8);
  let gathered: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    gathered.push(chunk);
    size += chunk.byteLength;
    if (size < enough) continue;
    const bytes = Buffer.concat(gathered, size);
    const end = lastBoundary(bytes);
    yield { bytes: bytes.subarray(0, end), last: false };
    gathered = [bytes.subarray(end)];
    size -= end;
  }
  yield { bytes: Buffer.concat(gathered, size), last: true };
}

/** Where the bytes can be cut: before a character that is not whole yet, and before a CR whose LF may follow. */
function lastBoundary(bytes: Buffer): number {
  const { length } = bytes;
  if (bytes[length - 1] === cr) return length - 1;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) break;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needed > 0) return needed > back ? length - back : length;
  }
  return length;
}

/** After the byte order mark. @throws BrokenFileError where these are the first bytes of something else than text */
function startOfText(bytes: Buffer): number {
  for (const { bytes: signature, message } of signatures) {
    if (signature.every((byte, index) => bytes[index] === byte)) broken(1, message);
  }
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The text, up to the line in which it stops being any. */
function decode(bytes: Buffer): { readonly text: string; readonly whole: boolean } {
  if (isText(bytes)) return { text: bytes.toString('utf8'), whole: true };
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== lf && bytes[at] !== cr) continue;
    if (!isText(bytes.subarray(start, at))) break;
    start = at + 1;
  }
  return { text: bytes.toString('utf8', 0, start), whole: false };
}

/** No character of UTF-8 text but NUL has a zero byte, and all of UTF-16's have one in every Latin letter. */
function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

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

/** Takes the text of a file piece by piece, and hands out what it has understood. */
export interface RowReader {
  /**
   * @param text the next piece; none ends between the CR and the LF of one line end
   * @throws BrokenFileError where nothing after can be understood
   */
  write(text: string): void;
  /** The file has ended. @throws BrokenFileError */
  end(): void;
}
