const mask = '[key]';

/**
 * Minimum length of a secret. A shorter one is not a key, and a word of three letters would be removed from every
 * sentence.
 */
const shortest = 4;

/**
 * Returns a function that replaces secrets of at least four characters in text by `[key]`, in upper or lower case: as
 * they are, as in JSON, percent-encoded as in a URL, and in base64.
 */
export function redactorOf(secrets: Iterable<string>): (text: string) => string {
  const kept = [...secrets].filter(({ length }) => length >= shortest);
  if (kept.length === 0) return (text) => text;
  // A longer form first, because another one may be a part of it.
  const forms = [...new Set(kept.flatMap(formsOf))].sort((one, other) => other.length - one.length);
  const any = new RegExp(forms.map(literal).join('|'), 'gi');
  return (text) => text.replace(any, mask);
}

function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inBase64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [secret, inJson, encodeURIComponent(secret), inBase64];
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
