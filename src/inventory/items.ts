import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';

/** The statuses that the service specifies, in the order in which petstock shows them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(text: string): text is PetStatus {
  return (petStatuses as readonly string[]).includes(text);
}

/** Reads a status in any case: `Available`. */
export function parsePetStatus(text: string): Parsed<PetStatus> {
  const status = petStatuses.find((known) => known === text.toLowerCase());
  return status === undefined
    ? problem(`${quoted(text)} is not a status; valid are ${petStatuses.join(', ')}`)
    : parsed(status);
}

/**
 * The stock of one pet, as the service answers it. A type rather than an interface, so that it passes
 * for a row of plain values without being copied.
 */
export type InventoryItem = {
  /** An int64: every digit counts. */
  readonly petId: bigint;
  /** A safe integer; the service specifies no bounds, so it may be negative. */
  readonly quantity: number;
  /** Usually a `PetStatus`; an unknown one is kept as it came. */
  readonly status: string;
};

/** A pet of which the service gives a stock that no quantity can hold: the specification sets no bounds. */
export interface UnreadableItem {
  readonly petId: bigint;
  readonly status: string;
  /** The number in its place: `9007199254740993`, or the beginning of it. */
  readonly number: string;
  /** The nearest number to it; beyond all of them an infinity. */
  readonly nearest: number;
  /** `out of range`, `not an integer` */
  readonly problem: string;
}

/** A clause: `the stock of pet 5 is 9007199254740993, which is out of range` */
export function unreadableText({ petId, number, problem }: UnreadableItem): string {
  return `the stock of pet ${petId} is ${number}, which is ${problem}`;
}

/** The stock at or below which a pet is low. */
export interface LowLevels {
  /** The setting `low-stock`, for all that have no level of their own. */
  readonly standard: number;
  readonly own?: ReadonlyMap<unknown, number> | undefined;
}

/** Reports whether a pet has to be ordered soon: it can be sold, and its stock is at or below its level. */
export function isLow(
  { petId, quantity, status }: { readonly petId?: unknown; readonly quantity: number; readonly status: unknown },
  { standard, own }: LowLevels,
): boolean {
  return status === 'available' && quantity <= (own?.get(petId) ?? standard);
}

/** Items in batches, as they come from their source. */
export type ItemBatches = AsyncIterable<readonly InventoryItem[]> | Iterable<readonly InventoryItem[]>;

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
  if (wrong !== undefined) return problem(wrong);
  const value = tooManyDigits.test(text) ? undefined : BigInt(text);
  if (value !== undefined && value >= smallestPetId && value <= largestPetId) return parsed(value);
  const rounded = fifteenDigitsThenZeros.test(text) ? '; a spreadsheet has probably rounded it' : '';
  return problem(
    `${quoted(text)} is out of range: a pet id lies between ${smallestPetId} and ${largestPetId}${rounded}`,
  );
}

/**
 * Reads a quantity: an integer that a number holds exactly, from -9007199254740991 to 9007199254740991.
 * The service specifies no bounds of its own. A plus sign is a fault: it is a change, not a stock.
 */
export function parseQuantity(text: string): Parsed<number> {
  if (isAddition(text)) {
    const sum = quoted(text);
    return problem(
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
  return problem(`the stock is ${quantity}, and ${quantity} ${change} is out of range: ${integerRange('quantity')}`);
}

type Noun = 'pet id' | 'quantity' | 'change';

const examples: Readonly<Record<Noun, string>> = {
  'pet id': 'a pet id is a whole number such as 42',
  quantity: 'a quantity is a whole number such as 12',
  change: 'a change is a whole number such as +5 or -2',
};

function parseInteger(text: string, noun: 'quantity' | 'change'): Parsed<number> {
  const wrong = notWhole(text, noun);
  if (wrong !== undefined) return problem(wrong);
  const value = Number(text);
  return Number.isSafeInteger(value)
    ? parsed(value)
    : problem(`${quoted(text)} is out of range: ${integerRange(noun)}`);
}

function integerRange(noun: 'quantity' | 'change'): string {
  return `a ${noun} lies between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
}

const separated = /^[+-]?\d{1,3}(?:[.,'\u2019 \u00a0\u2009\u202f]\d{3})+$/;
const wholeWithDecimals = /^([+-]?\d+)[.,]0+$/;
/** A longer text is not repeated, in characters. */
const maxRepeated = 40;

function withoutSeparators(text: string, noun: Noun): string {
  const digits = plain(text.replace(/[^\d+-]/g, ''), noun);
  const meant = digits.length > maxRepeated ? 'that' : digits;
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
  if (whole !== undefined && noun !== 'pet id' && text.length <= maxRepeated) {
    return `${quoted(text)} is not a ${noun}: write ${plain(whole, noun)}, without decimals`;
  }
  if (/^\+\d+$/.test(trimmed)) return `${quoted(text)} is not a ${noun}: leave out the plus sign, ${examples[noun]}`;
  if (/^[+-]?\d+$/.test(trimmed)) return `${quoted(text)} is not a ${noun}: leave out the white space around it`;
  if (/^[+-]?\p{Nd}+$/u.test(trimmed)) return `${quoted(text)} is not a ${noun}: use the digits 0 to 9`;
  if (/^[\p{Pd}\u2212]\d+$/u.test(trimmed)) return `${quoted(text)} is not a ${noun}: write its minus sign as "-"`;
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

/** The stock of some pets; one that is missing is not there, or can't be relied on. A Map is one. */
export type Quantities = Pick<ReadonlyMap<bigint, number>, 'get' | 'has' | 'keys'> & {
  readonly unreadable?: ReadonlyMap<bigint, UnreadableItem>;
  /** Pets that the service answered with an older stock than the one that was written last. */
  readonly outdated?: ReadonlyMap<bigint, OutdatedStock>;
};

/** A stock that was answered though a later one had been written. */
export interface OutdatedStock {
  readonly found: number;
  readonly written: number;
}

/** The stock of pets, with those that have none that can be relied on. */
export class PetQuantities extends Map<bigint, number> implements Quantities {
  readonly unreadable = new Map<bigint, UnreadableItem>();
  readonly outdated = new Map<bigint, OutdatedStock>();
}

/** Returns why such a stock is not relied on: a clause without a trailing period. */
export function outdatedText({ found, written }: OutdatedStock): string {
  return `the service returned an outdated stock, ${found}, although ${written} was just written`;
}

/** Returns why a pet that had a stock is without one: a clause without a trailing period. */
export function absenceText({ unreadable, outdated }: Quantities, petId: bigint): string {
  const older = outdated?.get(petId);
  if (older !== undefined) return outdatedText(older);
  const item = unreadable?.get(petId);
  return item === undefined ? `there is no pet ${petId} any more` : unreadableText(item);
}

/** Reports whether the service has no such pet: it is not one whose stock can't be relied on. */
export function isAbsent(quantities: Quantities, petId: bigint): boolean {
  return !quantities.has(petId) && !quantities.unreadable?.has(petId) && !quantities.outdated?.has(petId);
}

/** Reports whether an id that no pet has may be a bar code: EAN-8, UPC, EAN-13 or GTIN-14. */
export function mayBeBarCode(petId: bigint): boolean {
  return /^(?:\d{8}|\d{12,14})$/.test(`${petId}`);
}
