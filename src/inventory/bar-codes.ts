import { petIdOfCode, withoutCodeKind } from './count/scan-line.ts';

/** A lookup of the store's own name for a pet, by the pet's id. A Map will do. */
export interface PetNames {
  get(petId: bigint): string | undefined;
}

export interface BarCodes {
  readonly pets: ReadonlyMap<string, bigint>;
  /** The codes by `articleOf`, without articles that mean several pets. */
  readonly articles: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<bigint, string>;
  /** The stock at or below which a pet is low, for pets with their own level. */
  readonly lows: ReadonlyMap<bigint, number>;
  /** How many units a scan counts, for the codes of cases. */
  readonly units: ReadonlyMap<string, number>;
}

export const noBarCodes: BarCodes = {
  ...{ pets: new Map(), articles: new Map(), names: new Map(), lows: new Map(), units: new Map() },
};

/** Returns the pet that a text means, as a bar code of the store or otherwise as a pet id. */
export function petOfText(codes: BarCodes, text: string): bigint | undefined {
  return petOfCode(codes, text) ?? petIdOfCode(text) ?? petIdOfCode(withoutCodeKind(text) ?? '');
}

/** Returns the pet of a bar code in any of its spellings. */
export function petOfCode(codes: BarCodes, text: string): bigint | undefined {
  const code = knownCode(codes, text);
  return code === undefined ? undefined : codes.pets.get(code);
}

/**
 * Returns the code of the store that a scanned text means: the same text, with or without the prefix that a scanner may
 * add, or another spelling of the same article. Undefined if there is none.
 */
export function knownCode(codes: BarCodes, text: string): string | undefined {
  if (codes.pets.has(text)) return text;
  const bare = withoutCodeKind(text) ?? text;
  if (codes.pets.has(bare)) return bare;
  const article = articleOf(text);
  return article === undefined ? undefined : codes.articles.get(article);
}

/** Number of digits below which a code is a store's own, so that each of its zeros counts. */
const minDigits = 6;

/**
 * Returns what all spellings of one article have in common: its digits without leading zeros. They are the same in
 * UPC-A, EAN-13 and the GTIN-14 of a single unit, in a GS1 element string, and after a spreadsheet took the zeros.
 * Undefined for a code with other characters or with few digits.
 */
export function articleOf(text: string): string | undefined {
  const bare = withoutCodeKind(text) ?? text;
  const digits = (gs1Article(bare) ?? bare).replace(/^0+/, '');
  return /^\d+$/.test(digits) && digits.length >= minDigits && digits.length <= 14 ? digits : undefined;
}

/** Returns the GTIN in a GS1 element string, with or without parentheses: `(01)09506000134352(10)LOT`. */
function gs1Article(text: string): string | undefined {
  const [, shown] = /\(0[12]\)\s*(\d{14})(?!\d)/.exec(text) ?? [];
  if (shown !== undefined) return shown;
  const [, plain] = /^0[12](\d{14})/.exec(text) ?? [];
  return plain !== undefined && hasCheckDigit(plain) ? plain : undefined;
}

/** Reports whether a text is a GTIN (EAN, UPC) or a GS1 element string, so that it is certainly a bar code. */
export function isArticleNumber(text: string): boolean {
  const bare = withoutCodeKind(text) ?? text;
  return gs1Article(bare) !== undefined || (/^(?:\d{8}|\d{12,14})$/.test(bare) && hasCheckDigit(bare));
}

/** Reports whether the last digit is the check digit of a GTIN. Leading zeros make no difference. */
export function hasCheckDigit(digits: string): boolean {
  const sum = Array.from(digits, Number)
    .reverse()
    .reduce((all, digit, index) => all + digit * (index % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}
