import { quoted } from '../../shared/parsed.ts';
import { grouped, parsePetId } from '../items.ts';

/**
 * The meaning of one line of a count: `add` counts `units` more, from 1; `set` says what there is in all, from 0; `back`
 * takes the last back; `code` gives the unknown code before it to a pet; `wrong` is a mistaken command, which counts
 * nothing.
 */
export interface ScanLine {
  readonly kind: 'add' | 'set' | 'back' | 'code' | 'sum' | 'done' | 'wrong';
  /** A text as it was scanned or typed: a bar code or a pet id. Empty if the line has none. */
  readonly code: string;
  readonly units: number;
  /** What is wrong with the line. If it may have been a scan all the same, it is kept apart as one of an unknown code. */
  readonly problem?: string;
}

/** The fewest and most units. A bar code that is scanned where a number is to be typed is none: the shortest has 8 digits. */
const bounds = { add: [1, 99_999], set: [0, 9_999_999] } as const;
const maxCode = 200;
const nothing = { code: '', units: 0 };
/** Lines with a meaning of their own: no code can be one of them. */
const commands = /^(?:-|done|=.*|code \S+)?$/is;

/**
 * Reads one line. A text that is a code as a whole is that code, even if it looks like `42*3`.
 * @param isCode whether a text is a bar code that stands for a pet
 * @param isPet whether a text means a pet at all, such as by a part of its name
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
    const message = `a code has at most ${maxCode} characters, and this line has more`;
    return { kind: 'add', code: `${text.slice(0, maxCode - 1)}…`, units: 1, problem: message };
  }
  if (text.startsWith('=')) return parseSetting(text);
  if (isCode(text)) return { kind: 'add', code: text, units: 1 };
  const whole: ScanLine = { kind: 'add', code: text, units: 1 };
  // `blue x large` is a text with an x in it, not a number of blues.
  const several = /^(.*\S)(?:\s+[x\u00d7]|\s*\*)(?:\s*([-+]?\d\S*))?$/is.exec(text);
  const [, code = text, factor = ''] = several ?? [];
  const read = several === null ? whole : lineOf(text, 'add', code, factor);
  if (several !== null && (isPet(code) || petIdOfCode(code) !== undefined)) return read;
  const [, word = '', operand = ''] = /^(-+|code|done)(?: +(.*))?$/is.exec(text) ?? [];
  if (/^code$/i.test(word)) return { kind: 'code', code: operand, units: 0 };
  if (word !== '') {
    return wrong(
      text,
      `write ${word.startsWith('-') ? '- alone to take the last line back' : 'done alone to end the count'}`,
    );
  }
  // `SHELF*12A` may be a code that nothing knows yet.
  return read.kind === 'wrong' ? whole : read;
}

/** Reports whether a line teaches a code, or is meant to. */
export function isTeaching(line: string): boolean {
  return /^code(?: |$)/i.test(codeText(line));
}

/** Reports whether a line is typed to leave a program or to get help. Only a person at a prompt means that by it. */
export function isHelpWord(line: string): boolean {
  return /^(?:quit|exit|help|bye|end|q|h|:q|\?)$/i.test(codeText(line));
}

/** Reports whether a line is a word, or several: what a person types, and no scanner reads from goods. */
export function isWord(line: string): boolean {
  return /^\p{L}[\p{L}' -]*$/u.test(codeText(line));
}

/**
 * Returns a line or a code as it is kept. What a scanner may put around and between its data (STX, ETX, the GS of GS1) is left out, and what a
 * terminal puts around pasted text. Any other control character, such as a backspace that the terminal has not taken, makes it a code that
 * nothing knows, and can be seen in it.
 */
export function codeText(text: string): string {
  return text
    .replace(/\x1b\[20[01]~/g, '')
    .replace(/[\t\n\v\f\r]+/g, ' ')
    .replace(/[\0-\x04\x1c-\x1f]/g, '')
    .replace(/[\x05-\x1b]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/\x7f/g, '␡')
    .trim();
}

/** Returns what follows the name that a scanner may give the kind of a code (ISO/IEC 15424): `4006381333931` of `]E04006381333931`. */
export function withoutCodeKind(code: string): string | undefined {
  return /^\][A-Za-z][0-9A-Za-z](.+)$/.exec(code)?.[1];
}

/** Returns why a text of a file of codes can't be a bar code, a clause; undefined if it can. */
export function codeProblem(text: string): string | undefined {
  if (text === '') return 'the code is missing';
  if (commands.test(text)) return `${quoted(text)} can't be a code: it has a meaning in a count`;
  if (text.length > maxCode) return `a code has at most ${maxCode} characters, and this one has ${text.length}`;
  if (/[\u2400-\u2421\ufffd]|\p{Cf}/u.test(text))
    return `${quoted(text)} can't be scanned: there are characters in it that no code has`;
  if (/^[+-]?\d+(?:[.,]\d+)?[eE]\+?\d+$/.test(text) || /^[1-9]\d{14}0{4,}$/.test(text)) {
    return `${quoted(text)} looks like a code that a spreadsheet rounded; format the column as text and export again`;
  }
  return undefined;
}

/**
 * The pet that a text names by its id. `007` is no id: of a bar code, every zero counts.
 * @returns undefined if it is none
 */
export function petIdOfCode(code: string): bigint | undefined {
  const petId = parsePetId(code);
  return petId.ok && `${petId.value}` === code ? petId.value : undefined;
}

/** `= 42 7`. The code may have blanks in it. */
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
