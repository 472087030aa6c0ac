/** A value parsed from text, or the problem, as a clause without a period that a shop assistant understands. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function problem(sentence: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: sentence };
}

/**
 * Matches a character that can't be seen or be told from a space: controls, marks of width zero or of direction, special
 * spaces. A joiner within an emoji is a part of it.
 */
const unseen = /(?! )(?!(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d)[\p{Cc}\p{Cf}\p{Z}]/gu;
const longest = 40;
/** Maximum length with the names of characters that can't be seen. */
const longestNamed = 120;

/**
 * Returns the text in double quotes, for an error: at most 40 characters. A character that can't be seen is named, such
 * as `<U+200B>`, so that it can be found, and neither forges nor hides a part of the message.
 */
export function quoted(text: string): string {
  // Twice the length is enough for 40 characters even if each is a surrogate pair.
  const characters = Array.from(text.slice(0, 2 * longest + 2));
  const shown = characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('');
  const named = shown.replace(unseen, (character) => `<${codePoint(character)}>`);
  return `"${named.length > longestNamed ? `${named.slice(0, longestNamed - 1)}…` : named}"`;
}

/** Returns the characters of a text that can't be seen, each once, such as `U+200B`. */
export function unseenIn(text: string): readonly string[] {
  return [...new Set(text.match(unseen) ?? [])].map(codePoint);
}

/** Returns the text without characters that can't be seen. */
export function withoutUnseen(text: string): string {
  return text.replace(unseen, '');
}

function codePoint(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, '0')}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function uncapitalized(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Returns the text with a period, unless it already ends a sentence. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
