/** A value parsed from text, or the problem, as a clause without a period that a shop assistant understands. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function problem(sentence: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: sentence };
}

/** Control characters, line separators and bidi marks: they could forge or hide a part of a message. */
const harmful = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const longest = 40;

/**
 * Returns the text in double quotes, for an error: at most 40 characters, with each harmful character replaced by `�`.
 */
export function quoted(text: string): string {
  // Twice the length is enough for 40 characters even if each is a surrogate pair.
  const characters = Array.from(text.slice(0, 2 * longest + 2).replace(harmful, '\ufffd'));
  const shown = characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('');
  return `"${shown}"`;
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
