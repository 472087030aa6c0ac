import { nearest } from '../shared/did-you-mean.ts';

/** The shop's names by the ids of their pets. */
type Names = ReadonlyMap<bigint, string>;

/** A number in some notation, though there is a letter in it. */
const numeric = /^[+-]?(?:[\d.,]+e[+-]?\d+|0[xob][\da-f]*)$/i;

/** Reports whether a word may be a name: a number never is, in whatever notation. */
export function mayBeName(text: string): boolean {
  return /\p{L}/u.test(text) && !numeric.test(text.trim());
}

/** Returns a name without regard to case, the form of its accents, and how it is spaced. */
export function plainText(name: string): string {
  // Upper case first: ß and SS are the same.
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC').replace(/\s+/gu, ' ').trim();
}

/** Returns the pets with a text in their name. */
export function petsWith(names: Names, text: string): bigint[] {
  const wanted = plainText(text);
  return [...names].filter(([, name]) => plainText(name).includes(wanted)).map(([petId]) => petId);
}

/** Returns the pets that a word stands for: those of just this name, else all with it in their name. A letter or two have to be a word of the name. */
export function petsNamed(names: Names, text: string): bigint[] {
  const wanted = plainText(text);
  const having = petsWith(names, text);
  const same = having.filter((petId) => plainText(names.get(petId) ?? '') === wanted);
  if (same.length > 0 || !/^[a-z]{0,2}$/.test(wanted)) return same.length > 0 ? same : having;
  return having.filter((petId) => wordsOf(names.get(petId) ?? '').includes(wanted));
}

/** Returns the pets that somebody most likely meant by a text that is in no name: those whose name, or a word of it, is the nearest. */
export function petsNear(names: Names, text: string): bigint[] {
  const wholes = [...names.values()].map(plainText);
  const near = nearest(plainText(text), [...new Set([...wholes, ...wholes.flatMap(wordsOf)])]);
  return near === undefined ? [] : petsNamed(names, near);
}

function wordsOf(name: string): string[] {
  return plainText(name).split(/[^\p{L}\p{M}\p{N}]+/u);
}
