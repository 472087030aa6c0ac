const mask = '[key]';

/**
 * Minimum length of a secret. A shorter one is not a key, and a word of three letters would be removed from every
 * sentence.
 */
const shortest = 4;

/** Matches a backslash, possibly percent-encoded. */
const backslash = '(?:\\\\|%(?:25)*5[cC])';
const escapedInvisible = '(?:00[01]|00[89]|202|206)[0-9a-fA-F]|007[fF]|061[cC]|200[b-fB-F]|[fF][eE][fF][fF]';
/** Matches characters that a terminal or petstock removes. A secret must not become visible once they are removed. */
const taken = '[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]';
const everyTaken = new RegExp(taken, 'g');
const invisible = `(?:${taken}|${backslash}{1,4}u(?:${escapedInvisible}))*`;

/**
 * Returns a function that replaces secrets of at least four characters in text by `[key]`, in every form in which a
 * service may repeat one: unchanged, with backslashes as in JSON or JavaScript (`\/`, `\u002f`, `\x2f`),
 * percent-encoded once or several times, and as HTML entities (`&#47;`), each in upper or lower case.
 */
export function redactorOf(secrets: Iterable<string>): (text: string) => string {
  const kept = [...secrets].filter(({ length }) => length >= shortest);
  if (kept.length === 0) return (text) => text;
  let any: RegExp | undefined;
  return (text) => {
    if (isClearOf(kept, text)) return text;
    any ??= new RegExp(kept.map((secret) => [...secret].map(formsOf).join(invisible)).join('|'), 'gi');
    return text.replace(any, mask);
  };
}

/**
 * Reports whether a text certainly contains no secret: no character is encoded, and the visible part contains no
 * secret. This is enough for most texts, and avoids the whole pattern, which takes V8 20 ms to compile.
 */
function isClearOf(secrets: readonly string[], text: string): boolean {
  if (/[%&\\]|u[0-9a-f]{4}/i.test(text)) return false;
  const shown = text.replace(everyTaken, '').toLowerCase();
  return !secrets.some((secret) => shown.includes(secret.replace(everyTaken, '').toLowerCase()));
}

/** The named HTML entities of characters, as alternatives of a pattern. */
const entities: Readonly<Record<string, string>> = { '&': '|amp', '<': '|lt', '>': '|gt', '"': '|quot', "'": '|apos' };

function formsOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${byte.toString(16).padStart(2, '0')}`);
  const html = `&(?:#0{0,6}${code}|#x0{0,6}${hex}${entities[character] ?? ''});?`;
  // A backslash is only matched plain or percent-encoded, because the number of backslashes that stand for one is
  // ambiguous.
  if (character === '\\') return backslash;
  const escaped = `u${hex.padStart(4, '0')}${code < 256 ? `|x${hex.padStart(2, '0')}` : ''}`;
  return `(?:${backslash}{0,4}(?:${literal(character)}|${escaped})|${percent.join('')}|${html})`;
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
