import { quoted } from '../../shared/parsed.ts';
import { grouped, parsePetId } from '../items.ts';

/** So many scans of a code, of a pet id or of a name. */
export interface ScannedUnits {
  readonly code: string;
  readonly units: number;
}

/**
 * The meaning of a line in a count:
 *
 * - `add` counts `units` more, from 1; `set` sets the total, from 0
 * - `either`: a code and how many, but it is not clear which is which. Each reading is one meaning
 * - `many`: only how many, without a code
 * - `back` cancels the line before
 * - `sum` shows the sum so far
 * - `done` ends the count
 * - `comment` is for people, or the header of a data collector
 * - `wrong` is a mistaken command, which counts nothing
 */
export type ScanLine =
  | (ScannedUnits & {
      readonly kind: 'add' | 'set';
      /** Why the line can't be a code. It is kept as an unknown one. */
      readonly problem?: string;
      /** Whether the line is a number of one to three digits and nothing else. */
      readonly isBare?: boolean;
    })
  | { readonly kind: 'either'; readonly readings: readonly ScannedUnits[] }
  | { readonly kind: 'many'; readonly units: number }
  | { readonly kind: 'wrong'; readonly problem: string }
  | { readonly kind: 'back' | 'sum' | 'done' | 'comment' };

/** What the store knows about a text. */
export interface KnownTexts {
  /** Whether it is a bar code, in any of its spellings. A pet id is none. */
  isBarCode(text: string): boolean;
  /** Whether it is the whole name of a pet. */
  isName(text: string): boolean;
  /** Whether it means a pet in another way, such as by a part of its name. */
  isPet(text: string): boolean;
}

/** The minimum and maximum number of units. */
const bounds = { add: [1, 99_999], set: [0, 9_999_999] } as const;
const maxCode = 200;
/** Matches lines with a special meaning. A code can't be one of them. */
const commands = /^(?:-|done|=.*|\d+(?:\s+x|\s*[*\u00d7])\s*\d+)?$/is;
/** Matches how many without a code: `x3`, `+3`, `0003`, `3 pcs`. */
const manyOnly =
  /^(?:[x\u00d7*+]\s*(\d{1,5})|0+(\d{1,3})|(\d{1,3})(?:[x\u00d7+.-]| ?(?:stk|pcs?|pieces?|units?)\.?))$/iu;
/** From this number on, `3*12345` may also be three of a code that is not known. */
const leastCode = 10_000;
/** Matches a GS1 code, which begins with at least 16 digits for a product or delivery. GS separates its fields. */
const gs1 = /(?<!\S)(?:\][A-Za-z][0-9A-Za-z])?0[0-2]\d{14}\S*/g;
/** Matches the first line of a data collector's file: `Barcode;Qty`. */
const collectorHeader =
  /^"?(?:bar ?code|code|ean|gtin|upc|sku|item|article)[^,;]*[,;]\s*"?(?:quantity|qty|units|count|pieces)/i;

/** Parses one line. A text that is a code or name as a whole means its pet, even if it looks like `Sand x 5`. */
export function parseScanLine(line: string, known: KnownTexts): ScanLine {
  const text = codeText(line);
  if (text === '') return { kind: 'sum' };
  if (text === '-') return { kind: 'back' };
  if (/^done$/i.test(text)) return { kind: 'done' };
  const whole: ScanLine = { kind: 'add', code: text, units: 1 };
  if (known.isBarCode(text) || known.isName(text)) return whole;
  if (text.length > maxCode) {
    const problem = `this line is longer than ${maxCode} characters, the maximum for a code`;
    return { kind: 'add', code: `${text.slice(0, maxCode - 1)}…`, units: 1, problem };
  }
  if (text.startsWith('=')) return parseSetting(text);
  if (/^\d{1,3}$/.test(text)) return { ...whole, isBare: true };
  const many = manyOnly
    .exec(text.normalize('NFKC'))
    ?.slice(1)
    .find((number) => number !== undefined);
  if (many !== undefined) return { kind: 'many', units: Number(many) };
  // The separator needs a space before an x: `42x3` is a code. It comes last: `Sand x 5 x2` is two of `Sand x 5`.
  const [, left, x, right = ''] = /^(.*\S)(?:\s+(x)\s*|\s*[*\u00d7]\s*)(\S.*)?$/is.exec(text) ?? [];
  const isKnown = left !== undefined && (known.isBarCode(left) || known.isName(left));
  if (text.startsWith('#') && !isKnown) return { kind: 'comment' };
  if (left !== undefined && (right === '' || /^[-+]?\d/.test(right) || known.isBarCode(right))) {
    return severalOf(left, right, known, x !== undefined) ?? whole;
  }
  return collectedLine(text, known) ?? mistypedWord(text) ?? joinedLine(text, known) ?? whole;
}

/** Parses `94046x3` and `3 94046`: a known bar code and how many, or another code. */
function joinedLine(text: string, known: KnownTexts): ScanLine | undefined {
  const [, left = '', right = ''] = /^(\S+?)(?:x|\s+x?)(\S+)$/i.exec(text) ?? [];
  const [code, number] = known.isBarCode(left) ? [left, right] : [right, left];
  return known.isBarCode(code) ? eitherOf(unitsOf(code, number)) : undefined;
}

/** Returns the mistake of a line such as `done now`; undefined for any other line. */
function mistypedWord(text: string): ScanLine | undefined {
  const [, word] = /^(-+|done)(?:(?<=-)\d+| +.*)?$/is.exec(text) ?? [];
  if (word === undefined) return undefined;
  const [aim, typed] = word.startsWith('-') ? ['cancel the last line', '-'] : ['end the count', 'done'];
  return wrong(`to ${aim}, type ${typed} and nothing else`);
}

/**
 * Parses `left x right` or `left * right`. The right side is how many, unless it is a known bar code: then the left
 * side is, as tills type it. If both are known bar codes, the line does not say which.
 * @param isX whether `x` is between them, which no till types
 * @returns undefined if the whole line may be an unknown code, such as `SHELF*12A`
 */
function severalOf(left: string, right: string, known: KnownTexts, isX = false): ScanLine | undefined {
  const [isLeftCode, isRightCode] = [known.isBarCode(left), known.isBarCode(right)];
  if (isRightCode && isLeftCode)
    return eitherOf(unitsOf(left, right), unitsOf(right, left)) ?? wrong('write one code a line');
  if (isRightCode) {
    if (/^[-+]?\d/.test(left)) return lineOf('add', right, left);
    return known.isPet(left) || known.isName(left)
      ? wrong(`${quoted(right)} is a bar code: write how many before it`)
      : undefined;
  }
  const unclear = isLeftCode ? undefined : unclearLine(left, right, known, isX);
  if (unclear !== undefined) return unclear;
  const read = lineOf('add', left, right);
  const isKnown = isLeftCode || known.isName(left) || known.isPet(left) || petIdOfCode(left) !== undefined;
  return read.kind === 'wrong' && !isKnown ? undefined : read;
}

/**
 * Parses `3*094046` and `3*94047` without a known code: the right side may be a code in another spelling, or one that is
 * not known.
 * @returns undefined if it is how many
 */
function unclearLine(left: string, right: string, known: KnownTexts, isX: boolean): ScanLine | undefined {
  const bare = right.replace(/^0+(?=\d)/, '');
  if (bare !== right && known.isBarCode(bare)) return eitherOf(unitsOf(bare, left));
  if (bare !== right && right.length > 3) return wrong('write how many without zeros in front');
  const ofLeft = !isX && /^\d{1,3}$/.test(left) ? unitsOf(left, right) : undefined;
  return ofLeft !== undefined && ofLeft.units >= leastCode ? eitherOf(ofLeft, unitsOf(right, left)) : undefined;
}

/**
 * Parses a line of a data collector: `code,quantity`, with `,` or `;`, followed by fields that don't matter here, such as
 * a serial number, the time and the date. The first cell is never how many: it may be a serial number.
 * @returns undefined if the line has another form
 */
function collectedLine(text: string, known: KnownTexts): ScanLine | undefined {
  if (collectorHeader.test(text)) return { kind: 'comment' };
  const cells = text.split(text.includes(';') ? ';' : ',').map((cell) => cell.trim().replace(/^"(.*)"$/s, '$1'));
  const [code = '', quantity] = cells;
  if (quantity === undefined || code === '') return undefined;
  if (known.isBarCode(quantity) && !known.isBarCode(code)) {
    return wrong(`${quoted(quantity)} is a bar code: write the code first, then how many`);
  }
  if (/^[-+]?\d[\d.]*$/.test(quantity)) return severalOf(code, quantity, known) ?? lineOf('add', code, quantity);
  return known.isBarCode(code) ? wrong('the quantity after the code is missing') : undefined;
}

/** Returns a line with these meanings; undefined if there are none. */
function eitherOf(...possible: readonly (ScannedUnits | undefined)[]): ScanLine | undefined {
  const readings = possible.flatMap((reading) => reading ?? []);
  return readings.length > 0 ? { kind: 'either', readings } : undefined;
}

/** Returns so many scans of a code; undefined if the number is none, or out of bounds. */
function unitsOf(code: string, number: string): ScannedUnits | undefined {
  const line = lineOf('add', code, number);
  return line.kind === 'add' ? { code, units: line.units } : undefined;
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
  return code === undefined || number === undefined
    ? wrong('write = 42 7 to set pet 42 to 7')
    : lineOf('set', code, number);
}

function lineOf(kind: 'add' | 'set', code: string, number: string): ScanLine {
  const [least, most] = bounds[kind];
  const units = /^\d{1,15}$/.test(number) ? Number(number) : Number.NaN;
  if (units >= least && units <= most) return { kind, code, units };
  return wrong(`write ${grouped(least)} to ${grouped(most)} units`);
}

function wrong(problem: string): ScanLine {
  return { kind: 'wrong', problem };
}
