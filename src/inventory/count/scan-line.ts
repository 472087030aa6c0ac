import { quoted } from '../../shared/parsed.ts';
import { grouped, parsePetId } from '../items.ts';

/**
 * The meaning of a line in a count:
 *
 * - `add` counts `units` more, from 1
 * - `set` sets the total, from 0
 * - `back` cancels the last line
 * - `code` assigns the unknown code before it to a pet
 * - `sum` shows the sum so far
 * - `done` ends the count
 * - `wrong` is a mistaken command, which counts nothing
 */
export interface ScanLine {
  readonly kind: 'add' | 'set' | 'back' | 'code' | 'sum' | 'done' | 'wrong';
  /**
   * The scanned or typed text: a bar code, a pet id or a name. The whole line if the kind is `wrong`, and empty if the
   * line has no such text.
   */
  readonly code: string;
  readonly units: number;
  /** Why the line is not valid. If it may have been a scan, it is kept as an unknown code. */
  readonly problem?: string;
}

/**
 * The minimum and maximum number of units. A bar code that is scanned in place of a number has at least 8 digits, so it
 * is out of this range unless it begins with zeros.
 */
const bounds = { add: [1, 99_999], set: [0, 9_999_999] } as const;
const maxCode = 200;
const nothing = { code: '', units: 0 };
/** Matches lines with a special meaning. A code can't be one of them. */
const commands = /^(?:-|done|=.*|code \S+|\d+(?:\s+[x\u00d7]|\s*\*)\s*\d+)?$/is;
/** Matches a GS1 code, which begins with at least 16 digits for a product or delivery. GS separates its fields. */
const gs1 = /(?<!\S)(?:\][A-Za-z][0-9A-Za-z])?0[0-2]\d{14}\S*/g;

/**
 * Parses one line. A text that is a code or name as a whole means its pet, even if it looks like `Sand x 5`.
 * @param isCode whether a text is the bar code or the whole name of a pet
 * @param isPet whether a text means a pet in any way, such as by a part of its name
 */
export function parseScanLine(
  line: string,
  isCode: (text: string) => boolean,
  isPet: (text: string) => boolean = isCode,
): ScanLine {
  const text = codeText(line);
  if (text === '') return { kind: 'sum', ...nothing };
  if (text === '-') return { kind: 'back', ...nothing };
  if (/^done$/i.test(text)) return { kind: 'done', ...nothing };
  if (text.length > maxCode) {
    const message = `this line is longer than ${maxCode} characters, the maximum for a code`;
    return { kind: 'add', code: `${text.slice(0, maxCode - 1)}…`, units: 1, problem: message };
  }
  if (text.startsWith('=')) return parseSetting(text);
  if (isCode(text)) return { kind: 'add', code: text, units: 1 };
  const whole: ScanLine = { kind: 'add', code: text, units: 1 };
  // The number must begin with a digit: `blue x large` is a name.
  const several = /^(.*\S)(?:\s+[x\u00d7]|\s*\*)(?:\s*([-+]?\d\S*))?$/is.exec(text);
  const [, code = text, factor = ''] = several ?? [];
  const read = several === null ? whole : lineOf(text, 'add', code, factor);
  if (several !== null && (isPet(code) || petIdOfCode(code) !== undefined)) return read;
  const [, word = '', operand = ''] = /^(-+|code|done)(?: +(.*))?$/is.exec(text) ?? [];
  if (/^code$/i.test(word)) return { kind: 'code', code: operand, units: 0 };
  if (word !== '') {
    const [aim, line] = word.startsWith('-') ? ['cancel the last line', '-'] : ['end the count', 'done'];
    return wrong(text, `to ${aim}, type ${line} and nothing else`);
  }
  // `SHELF*12A` may be a code that is not known yet.
  return read.kind === 'wrong' ? whole : read;
}

/** Reports whether a line assigns a code to a pet, or tries to. */
export function isAssigning(line: string): boolean {
  return /^code(?: |$)/i.test(codeText(line));
}

/** Reports whether a line contains a control character that no scanner adds, such as the one of Ctrl-Z. */
export function hasControls(line: string): boolean {
  return /[\u2400-\u2421]/.test(codeText(line));
}

/**
 * Reports whether a line is a word for leaving a program or for getting help. The line means that only if a person
 * typed it at a prompt.
 */
export function isHelpWord(line: string): boolean {
  return /^(?:quit|exit|help|bye|end|q|h|:q|\?)$/i.test(codeText(line));
}

/** Reports whether a line consists of words: a person types them, but a scanner never reads them from goods. */
export function isWord(line: string): boolean {
  return /^\p{L}[\p{L}' -]*$/u.test(codeText(line));
}

/**
 * Returns a line or code as it is stored: without the characters that a scanner may add around it (such as STX), the GS
 * inside GS1, and what a terminal adds around pasted text. Any other control character, such as a backspace that the
 * terminal did not handle, stays visible in the code, so that the code is unknown.
 */
export function codeText(text: string): string {
  return text
    .replace(/\x1b\[20[01]~/g, '')
    .replace(/[\t\n\v\f\r]+/g, ' ')
    .replace(/(?<!\S)[\0-\x04\x1c-\x1f]+|(?<![\0-\x04\x1c-\x1f])[\0-\x04\x1c-\x1f]+(?!\S)/g, '')
    .replace(gs1, (code) => code.replaceAll('\x1d', ''))
    .replace(/[\0-\x1f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/\x7f/g, '␡')
    .trim();
}

/**
 * Removes the prefix with which a scanner may identify the kind of code (ISO/IEC 15424): `]E04006381333931` becomes
 * `4006381333931`. Undefined if there is no prefix.
 */
export function withoutCodeKind(code: string): string | undefined {
  return /^\][A-Za-z][0-9A-Za-z](.+)$/.exec(code)?.[1];
}

/** Explains, as a clause, why a text can't be a bar code; undefined if it can. */
export function codeProblem(text: string): string | undefined {
  if (text === '') return 'the code is missing';
  if (commands.test(text)) return `${quoted(text)} can't be a code, because it is a command while counting`;
  if (text.length > maxCode) return `a code has at most ${maxCode} characters, but this one has ${text.length}`;
  if (/[\u2400-\u2421\ufffd]|\p{Cf}/u.test(text))
    return `${quoted(text)} can't be scanned: it contains characters that no code has`;
  if (/^[+-]?\d+(?:[.,]\d+)?[eE]\+?\d+$/.test(text) || /^[1-9]\d{14}0{4,}$/.test(text)) {
    return `${quoted(text)} looks like a code that a spreadsheet rounded: format the column as text and export again`;
  }
  return undefined;
}

/**
 * Returns the pet of a plain id; undefined if the code is not an id. `007` is not an id, because every zero of a bar
 * code counts.
 */
export function petIdOfCode(code: string): bigint | undefined {
  const petId = parsePetId(code);
  return petId.ok && `${petId.value}` === code ? petId.value : undefined;
}

/** Parses a line like `= 42 7`. The code may contain blanks. */
function parseSetting(text: string): ScanLine {
  const [, code, number] = /^=\s*(\S.*?)\s+(\S+)$/s.exec(text) ?? [];
  if (code === undefined || number === undefined) {
    return wrong(text, 'write = 42 7 to set pet 42 to 7');
  }
  return lineOf(text, 'set', code, number);
}

function lineOf(text: string, kind: 'add' | 'set', code: string, number: string): ScanLine {
  const [least, most] = bounds[kind];
  const units = /^\d{1,15}$/.test(number) ? Number(number) : Number.NaN;
  if (units >= least && units <= most) return { kind, code, units };
  return wrong(text, `write ${grouped(least)} to ${grouped(most)} units`);
}

function wrong(code: string, problem: string): ScanLine {
  return { kind: 'wrong', code, units: 0, problem };
}
