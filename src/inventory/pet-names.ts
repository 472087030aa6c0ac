import { nearest } from '../shared/hint.ts';
import { isWord } from './count/scan-line.ts';

/** The store's names by the ids of their pets. */
type Names = ReadonlyMap<bigint, string>;

/** Matches a number in a notation with a letter, like `1e5` or `0x1f`. */
const numeric = /^[+-]?(?:[\d.,]+e[+-]?\d+|0[xob][\da-f]*)$/i;

/** Reports whether a text may be a name: it contains a letter and is not a number. */
export function mayBeName(text: string): boolean {
  return /\p{L}/u.test(text) && !numeric.test(text.trim());
}

/** Normalizes case, the form of accents, and white space of a name. */
export function plainText(name: string): string {
  // Converted to upper case first, so that ß and SS are equal.
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC').replace(/\s+/gu, ' ').trim();
}

const plainNames = new WeakMap<Names, Names>();

/** Returns the normalized names. They are kept, because a count looks up many words. */
function plainOf(names: Names): Names {
  const known = plainNames.get(names) ?? new Map([...names].map(([petId, name]) => [petId, plainText(name)]));
  plainNames.set(names, known);
  return known;
}

/** Returns the pets whose normalized name contains the normalized text. */
export function petsWith(names: Names, text: string): bigint[] {
  const wanted = plainText(text);
  return [...plainOf(names)].filter(([, name]) => name.includes(wanted)).map(([petId]) => petId);
}

/** Returns the pets whose whole name is this text; both are normalized. */
function petsCalled(names: Names, text: string): bigint[] {
  const wanted = plainText(text);
  return [...plainOf(names)].filter(([, name]) => name === wanted).map(([petId]) => petId);
}

/**
 * Returns the pets that a text means: those with exactly this name, otherwise all whose name contains it. One or two
 * letters (a to z) must be a whole word of the name.
 */
export function petsNamed(names: Names, text: string): bigint[] {
  const [called, having, wanted] = [petsCalled(names, text), petsWith(names, text), plainText(text)];
  if (called.length > 0 || !/^[a-z]{0,2}$/.test(wanted)) return called.length > 0 ? called : having;
  return having.filter((petId) => wordsOf(plainOf(names).get(petId) ?? '').includes(wanted));
}

/**
 * Returns the pets that a line of a count names. A text with digits or symbols may be a code, so it only names a pet
 * with exactly that name.
 */
export function petsOfLine(names: Names, text: string): readonly bigint[] {
  if (!mayBeName(text)) return [];
  return isWord(text) ? petsNamed(names, text) : petsCalled(names, text);
}

/** Reports whether a line is the whole name of one pet. If so, `Sand x 5` is that pet, not five of another. */
export function isCalled(names: Names, text: string): boolean {
  return mayBeName(text) && petsCalled(names, text).length === 1;
}

/**
 * Returns the pets that were most likely meant by a text that occurs in no name: those with the nearest name, or the
 * nearest word in it.
 */
export function petsNear(names: Names, text: string): bigint[] {
  const wholes = [...plainOf(names).values()];
  const near = nearest(plainText(text), [...new Set([...wholes, ...wholes.flatMap(wordsOf)])]);
  return near === undefined ? [] : petsNamed(names, near);
}

function wordsOf(plainName: string): string[] {
  return plainName.split(/[^\p{L}\p{M}\p{N}]+/u);
}
