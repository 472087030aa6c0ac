import { isUtf8 } from 'node:buffer';
import type { ErrorFault } from '../shared/errors.ts';

const saveAgain = 'save it as UTF-8 (in a spreadsheet: Save as, "CSV UTF-8") and try again';
/** Ctrl-Z, with which DOS and programs that follow it end a file. */
const endOfDosFile = 0x1a;
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

export interface FileText {
  readonly text: string;
  /** Why the rest of the file is not text; undefined if all of it is. */
  readonly fault: ErrorFault | undefined;
}

/**
 * Reads the text of a UTF-8 file, without the byte order mark, up to the first line that is not text.
 * @throws the errors of `source`
 */
export async function readText(source: AsyncIterable<Uint8Array>): Promise<FileText> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) {
    chunks.push(chunk);
    // A device such as /dev/zero never ends.
    if (chunk.includes(0)) break;
  }
  const bytes = Buffer.concat(chunks);
  const start = bytes.toString('latin1', 0, maxSignature);
  const [, message] = signatures.find(([signature]) => start.startsWith(signature)) ?? [];
  if (message !== undefined) return { text: '', fault: { line: 1, message } };
  const end = bytes.findLastIndex((byte) => byte !== endOfDosFile) + 1;
  const content = bytes.subarray(start.startsWith(byteOrderMark) ? byteOrderMark.length : 0, end);
  const text = textOf(content);
  if (Buffer.byteLength(text) === content.length) return { text, fault: undefined };
  const fault = { line: 1 + countLineEnds(text), message: `there are characters that are not UTF-8: ${saveAgain}` };
  return { text, fault };
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

/** Copies a text: V8 keeps a slice of 13 characters or more as a reference, so the whole file would stay in memory. */
export function ownCopy(text: string): string {
  if (text.length < 13) return text;
  const copy = Buffer.from(text).toString();
  // Half a surrogate pair, which JSON can contain, would be lost in UTF-8.
  return copy === text ? copy : text;
}
