import { FailureError } from '../shared/errors.ts';
import { type Parsed, parsed, problem, quoted, unseenIn, withoutUnseen } from '../shared/parsed.ts';
import type { InventoryItem, Quantity } from './item-fields.ts';

export type { InventoryItem } from './item-fields.ts';

/** Describes a stock that is never written, as a clause: `the stock of pet 5 is 9007199254740993, which is out of range` */
export function unreadableText(petId: bigint, stock: bigint): string {
  return `the stock of pet ${petId} is ${stock}, which is out of range`;
}

/** The stock at or below which a pet is low. */
export interface LowLevels {
  /** The setting `low-stock`, for pets without their own level. */
  readonly standard: number;
  readonly own?: ReadonlyMap<unknown, number> | undefined;
}

/** Reports whether a pet must be reordered soon: it is available, and its stock is at or below its level. */
export function isLow(
  { petId, quantity, status }: { readonly petId?: unknown; readonly quantity: Quantity; readonly status: unknown },
  { standard, own }: LowLevels,
): boolean {
  return status === 'available' && quantity <= (own?.get(petId) ?? standard);
}

/** Items in batches, as they arrive. */
export type ItemBatches = AsyncIterable<readonly InventoryItem[]> | Iterable<readonly InventoryItem[]>;

/** Maximum number of pets held at once. The largest chains have a few hundred thousand; a longer list may be endless. */
const maxHeld = 10_000_000;

/**
 * Returns all items in one list.
 * @throws FailureError for a list that is too long to be held
 */
export async function gathered(batches: ItemBatches): Promise<InventoryItem[]> {
  const all: InventoryItem[] = [];
  for await (const items of batches) {
    for (const item of items) all.push(item);
    requireRoom(all.length);
  }
  return all;
}

/** @throws FailureError for a list that is too long to be held */
export function requireRoom(length: number): void {
  if (length <= maxHeld) return;
  throw new FailureError(
    `The list of the service has more than ${grouped(maxHeld)} pets: too many to sort or compare them. The list may be endless`,
    { hint: 'petstock status' },
  );
}

export type { Parsed } from '../shared/parsed.ts';

const smallestId = -(2n ** 63n);
const largestId = 2n ** 63n - 1n;

/** Matches more digits than any int64 has, not counting leading zeros. */
const tooManyDigits = /^-?0*[1-9]\d{19}/;
/** Matches a number of at least 18 digits whose digits after the 15th are all zeros: spreadsheets keep 15 digits. */
export const fifteenDigitsThenZeros = /^-?[1-9]\d{14}0{3,}$/;

export function parsePetId(text: string): Parsed<bigint> {
  return parseId(text, 'a pet id');
}

/**
 * Parses an id: decimal ASCII digits with an optional minus sign, within int64. Leading zeros are accepted; `-0`, a plus
 * sign, white space, a fraction, an exponent and other digits are errors.
 */
function parseId(text: string, noun: IdNoun): Parsed<bigint> {
  const wrong = integerProblem(text, noun);
  if (wrong !== undefined) return problem(wrong);
  const value = tooManyDigits.test(text) ? undefined : BigInt(text);
  if (value !== undefined && value >= smallestId && value <= largestId) return parsed(value);
  // Programs that round the largest id make 2^63 of it, in several spellings.
  const isRounded = fifteenDigitsThenZeros.test(text) || Math.abs(Number(text)) === 2 ** 63;
  const rounded = isRounded ? ' (a program has probably rounded it)' : '';
  return problem(`${quoted(text)} is out of range: ${noun} lies between ${smallestId} and ${largestId}${rounded}`);
}

/**
 * Parses a quantity: a safe integer, from -9007199254740991 to 9007199254740991. The service specifies no bounds. A
 * plus sign is an error, because it means a change, not a stock.
 * @param addHint ends the message for a number with a plus sign: how to add to the stock. Default: another message
 */
export function parseQuantity(text: string, addHint?: string): Parsed<number> {
  if (addHint === undefined || !isAddition(text)) return parseInteger(text, 'a quantity');
  const why = 'a quantity is the new stock and has no plus sign';
  return problem(`${quoted(text)} is not a quantity: ${why}${addHint}`);
}

/** Reports whether a text is a whole number with a plus sign, like `+5`, `+1,200` or `+5.0`. */
function isAddition(text: string): boolean {
  return text.startsWith('+') && (/^\+\d+$/.test(text) || separated.test(text) || wholeWithDecimals.test(text));
}

/** Parses a change of the stock, like `+5`, `5` or `-2`, within the range of a quantity. */
export function parseDelta(text: string): Parsed<number> {
  return parseInteger(text, 'a change');
}

/** Returns the stock after a change, or a problem if that stock is out of range. Both numbers are safe integers. */
export function addDelta(quantity: number, delta: number): Parsed<number> {
  const sum = quantity + delta;
  if (Number.isSafeInteger(sum)) return parsed(sum);
  const change = delta < 0 ? `${delta}` : `+${delta}`;
  return problem(`the stock is ${quantity}, and ${change} would take it out of range: ${integerRange('a quantity')}`);
}

/** What an id is of, with its article, for messages. */
type IdNoun = 'a pet id';
type Noun = IdNoun | 'a quantity' | 'a change';

const examples: Readonly<Record<Noun, string>> = {
  'a pet id': 'a pet id is a whole number such as 42',
  'a quantity': 'a quantity is a whole number such as 12',
  'a change': 'a change is a whole number such as +5 or -2',
};

function parseInteger(text: string, noun: 'a quantity' | 'a change'): Parsed<number> {
  const wrong = integerProblem(text, noun);
  if (wrong !== undefined) return problem(wrong);
  const value = Number(text);
  return Number.isSafeInteger(value)
    ? parsed(value)
    : problem(`${quoted(text)} is out of range: ${integerRange(noun)}`);
}

function integerRange(noun: 'a quantity' | 'a change'): string {
  return `${noun} lies between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
}

const separated = /^[+-]?\d{1,3}(?:[.,'\u2019 \u00a0\u2009\u202f]\d{3})+$/;
const wholeWithDecimals = /^([+-]?\d+)[.,]0+$/;
/** Matches thousands with separators and decimals that are zero: `10,000.00`. */
const separatedWithDecimals =
  /^([+-]?\d{1,3}(?:([.'\u2019 \u00a0\u2009\u202f])\d{3})+),0+$|^([+-]?\d{1,3}(?:([,'\u2019 \u00a0\u2009\u202f])\d{3})+)\.0+$/;
/** Maximum length of a text that a message repeats, in characters. */
const maxRepeated = 40;

/**
 * Returns the whole numbers that a text with separators or decimals may mean: `10.000` is ten in some countries, ten
 * thousand in others.
 */
function possibleMeanings(text: string, noun: Noun): readonly string[] {
  const [, whole] = wholeWithDecimals.exec(text) ?? [];
  const [, pointed, , commaed] = separatedWithDecimals.exec(text) ?? [];
  const all = [whole, pointed ?? commaed, separated.test(text) ? text : undefined];
  return [...new Set(all.flatMap((one) => (one === undefined ? [] : plain(one.replace(/[^\d+-]/g, ''), noun))))];
}

/** Returns digits without leading zeros and with a valid sign: a plus sign only in a change, none before zero. */
function plain(digits: string, noun: Noun): string {
  const signed = noun === 'a change' ? digits : digits.replace(/^\+/, '');
  return signed.replace(/^([+-]?)0+(?=\d)/, '$1').replace(/^[+-](?=0$)/, '');
}

function meaningsText(text: string, [first = '', second]: readonly string[], noun: Noun): string {
  const wrong = `${quoted(text)} is not ${noun}`;
  if (noun === 'a pet id' && wholeWithDecimals.test(text) && BigInt(first) > BigInt(Number.MAX_SAFE_INTEGER)) {
    return `${wrong}: as a decimal number it was probably rounded. Export the ids as text`;
  }
  if (text.length > maxRepeated) return `${wrong}: write it without separators and decimals`;
  if (second !== undefined) return `${wrong}: it may mean ${first} or ${second}. Write one of these`;
  if (separated.test(text)) return `${wrong}: if ${first} is meant, write it without a separator`;
  return `${wrong}: write ${first}, without decimals`;
}

/** Explains why a text is not a whole number, with messages for the most likely mistakes; undefined if it is one. */
function integerProblem(text: string, noun: Noun): string | undefined {
  if (noun === 'a change' ? /^[+-]?\d+$/.test(text) : /^-?\d+$/.test(text)) {
    return /^-0+$/.test(text) ? `${quoted(text)} is not ${noun}: zero has no sign, write 0` : undefined;
  }
  const trimmed = text.trim();
  if (trimmed === '') return `the ${noun.replace(/^an? /, '')} is empty: ${examples[noun]}`;
  if (/^[+-]?\d+(?:[.,]\d*)?[eE][+-]?\d+$/.test(trimmed)) {
    const rounded = /[eE]\+\d\d/.test(trimmed) ? 'a program has probably rounded it; ' : '';
    return `${quoted(text)} is not ${noun}: ${rounded}write out every digit (${examples[noun]})`;
  }
  const unseen = unseenIn(trimmed);
  if (unseen.length > 0 && integerProblem(withoutUnseen(trimmed), noun) === undefined) {
    return `${quoted(text)} is not ${noun}: remove ${unseen.join(' and ')}, which can't be seen`;
  }
  const meanings = possibleMeanings(trimmed, noun);
  if (meanings.length > 0) return meaningsText(trimmed, meanings, noun);
  if (/^\+\d+$/.test(trimmed)) return `${quoted(text)} is not ${noun}: leave out the plus sign (${examples[noun]})`;
  if (/^[+-]?\d+$/.test(trimmed)) return `${quoted(text)} is not ${noun}: leave out the white space around it`;
  if (/^[+-]?\p{Nd}+$/u.test(trimmed)) return `${quoted(text)} is not ${noun}: use the digits 0 to 9`;
  if (/^[\p{Pd}\u2212]\d+$/u.test(trimmed)) return `${quoted(text)} is not ${noun}: write its minus sign as "-"`;
  return `${quoted(text)} is not ${noun}: ${examples[noun]}`;
}

/** Formats an integer for display: `1,234,567`. Programs and files get plain digits. */
export function grouped(value: number | bigint): string {
  return `${value}`.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a change of stock for display: `+1,234`, `-5`, `0`. */
export function signed(change: number | bigint): string {
  return `${change > 0 ? '+' : ''}${grouped(change)}`;
}

/** Returns a text like `1 change` or `1,200 changes`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a line for each of the first items, and one about the others: `… and 5 more`. */
export function listed<Item>(
  items: readonly Item[],
  lineOf: (item: Item) => string = String,
  most = 20,
): readonly string[] {
  const lines = items.slice(0, most).map(lineOf);
  return items.length > most ? [...lines, `… and ${grouped(items.length - most)} more`] : lines;
}

/** Returns the first items in words: `3 and 7`, or `3, 7 and 12 more`. */
export function enumerated(items: readonly unknown[], most = 20): string {
  const shown = items.slice(0, most).map(String);
  const last = items.length > most ? `${grouped(items.length - most)} more` : shown.pop();
  return shown.length === 0 ? `${last ?? ''}` : `${shown.join(', ')} and ${last}`;
}

/** The stock of some pets, such as a Map. A missing pet does not exist, or its stock is not reliable. */
export type Quantities = Pick<ReadonlyMap<bigint, number>, 'get' | 'has' | 'keys'> & {
  /** Stocks beyond the safe integers, with which nothing can be computed. */
  readonly unreadable?: ReadonlyMap<bigint, bigint>;
};

/** The stock of pets, including those whose stock is not reliable. */
export class PetQuantities extends Map<bigint, number> implements Quantities {
  readonly unreadable = new Map<bigint, bigint>();
}

/** Explains why the stock of a pet is no longer known, as a clause without a period. */
export function absenceText({ unreadable }: Quantities, petId: bigint): string {
  const stock = unreadable?.get(petId);
  return stock === undefined ? `pet ${petId} no longer exists` : unreadableText(petId, stock);
}

/** Reports whether the service does not have a pet; a pet with an unreliable stock exists. */
export function isAbsent(quantities: Quantities, petId: bigint): boolean {
  return !quantities.has(petId) && !quantities.unreadable?.has(petId);
}

/** Reports whether an unknown id may be a bar code: EAN-8, UPC, EAN-13 or GTIN-14. */
export function mayBeBarCode(petId: bigint): boolean {
  return /^(?:\d{8}|\d{12,14})$/.test(`${petId}`);
}
