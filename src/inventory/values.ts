import { fault, type Parsed, parsed, quoted } from '../shared/parsed.ts';

export type { Parsed } from '../shared/parsed.ts';

const smallestPetId = -(2n ** 63n);
const largestPetId = 2n ** 63n - 1n;

/** More digits than any int64 has, leading zeros aside: out of range without a look at the value. */
const tooManyDigits = /^-?0*[1-9]\d{19}/;
/** Where the digits after the 15th are all zeros: spreadsheets keep 15. */
const fifteenDigitsThenZeros = /^-?[1-9]\d{14}0{3,}$/;

/**
 * Reads a pet id: decimal ASCII digits with an optional minus sign, within int64.
 * Leading zeros are read over; `-0`, a plus sign, white space, a fraction, an exponent and other digits are faults.
 */
export function parsePetId(text: string): Parsed<bigint> {
  const wrong = notWhole(text, 'pet id');
  if (wrong !== undefined) return fault(wrong);
  const value = tooManyDigits.test(text) ? undefined : BigInt(text);
  if (value !== undefined && value >= smallestPetId && value <= largestPetId) return parsed(value);
  const rounded = fifteenDigitsThenZeros.test(text) ? '; a spreadsheet has probably rounded it' : '';
  return fault(`${quoted(text)} is out of range: a pet id lies between ${smallestPetId} and ${largestPetId}${rounded}`);
}

/**
 * Reads a quantity: an integer that a number holds exactly, from -9007199254740991 to 9007199254740991.
 * The service specifies no bounds of its own. A plus sign is a fault: it is a change, not a stock.
 */
export function parseQuantity(text: string): Parsed<number> {
  if (isAddition(text)) {
    const sum = quoted(text);
    return fault(
      `${sum} is not a quantity: a quantity is the new stock and has no plus sign; to add to the stock, use petstock inventory adjust`,
    );
  }
  return parseInteger(text, 'quantity');
}

/** Whether a text in place of a quantity is a number with a plus sign, in any spelling: `+5`, `+1,200`, `+5.0`. */
export function isAddition(text: string): boolean {
  return text.startsWith('+') && (/^\+\d+$/.test(text) || separated.test(text) || wholeWithDecimals.test(text));
}

/** Reads a change of the stock: `+5`, `5` or `-2`; otherwise as a quantity. */
export function parseDelta(text: string): Parsed<number> {
  return parseInteger(text, 'change');
}

/** The stock after a change, or a fault if it passes what a quantity can be. Both are safe integers. */
export function addDelta(quantity: number, delta: number): Parsed<number> {
  const sum = quantity + delta;
  if (Number.isSafeInteger(sum)) return parsed(sum);
  const change = delta < 0 ? `${delta}` : `+${delta}`;
  return fault(`the stock is ${quantity}, and ${quantity} ${change} is out of range: ${integerRange('quantity')}`);
}

type Noun = 'pet id' | 'quantity' | 'change';

const examples: Readonly<Record<Noun, string>> = {
  'pet id': 'a pet id is a whole number such as 42',
  quantity: 'a quantity is a whole number such as 12',
  change: 'a change is a whole number such as +5 or -2',
};

function parseInteger(text: string, noun: 'quantity' | 'change'): Parsed<number> {
  const wrong = notWhole(text, noun);
  if (wrong !== undefined) return fault(wrong);
  const value = Number(text);
  return Number.isSafeInteger(value) ? parsed(value) : fault(`${quoted(text)} is out of range: ${integerRange(noun)}`);
}

function integerRange(noun: 'quantity' | 'change'): string {
  return `a ${noun} lies between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
}

const separated = /^[+-]?\d{1,3}(?:[.,'’ \u00a0\u2009\u202f]\d{3})+$/;
const wholeWithDecimals = /^([+-]?\d+)[.,]0+$/;
/** A longer text is not repeated, in characters. */
const longestRepeated = 40;

function withoutSeparators(text: string, noun: Noun): string {
  const digits = plain(text.replace(/[^\d+-]/g, ''), noun);
  const meant = digits.length > longestRepeated ? 'that' : digits;
  // 1.800 is 1800 to one half of the world and 1.8 to the other.
  return `${quoted(text)} is not a ${noun}: if ${meant} is meant, write it without a separator`;
}

/** Digits with a sign as they are taken: a plus sign only in a change, and zero without a minus sign. */
function plain(digits: string, noun: Noun): string {
  const signed = noun === 'change' ? digits : digits.replace(/^\+/, '');
  return signed.replace(/^-(?=0+$)/, '');
}

/** Why the text is not a whole number, for the most likely mistakes in their own words; undefined if it is one. */
function notWhole(text: string, noun: Noun): string | undefined {
  if (noun === 'change' ? /^[+-]?\d+$/.test(text) : /^-?\d+$/.test(text)) {
    return /^-0+$/.test(text) ? `${quoted(text)} is not a ${noun}: zero has no sign, write 0` : undefined;
  }
  const trimmed = text.trim();
  if (trimmed === '') return `the ${noun} is empty: ${examples[noun]}`;
  if (/^[+-]?\d+(?:[.,]\d*)?[eE][+-]?\d+$/.test(trimmed)) {
    const rounded = /[eE]\+\d\d/.test(trimmed) ? 'a spreadsheet has probably rounded it; ' : '';
    return `${quoted(text)} is not a ${noun}: ${rounded}write out every digit, ${examples[noun]}`;
  }
  if (separated.test(trimmed)) return withoutSeparators(text, noun);
  const [, whole] = wholeWithDecimals.exec(trimmed) ?? [];
  if (whole !== undefined && noun !== 'pet id' && text.length <= longestRepeated) {
    return `${quoted(text)} is not a ${noun}: write ${plain(whole, noun)}, without decimals`;
  }
  if (/^\+\d+$/.test(trimmed)) return `${quoted(text)} is not a ${noun}: leave out the plus sign, ${examples[noun]}`;
  if (/^[+-]?\d+$/.test(trimmed)) return `${quoted(text)} is not a ${noun}: leave out the white space around it`;
  if (/^[+-]?\p{Nd}+$/u.test(trimmed)) return `${quoted(text)} is not a ${noun}: use the digits 0 to 9`;
  return `${quoted(text)} is not a ${noun}: ${examples[noun]}`;
}

/** An integer for people: `1,234,567`. Programs and files get plain digits. */
export function grouped(value: number | bigint): string {
  return `${value}`.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 change`, `1,200 changes` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}
