import { type PetstockError, UsageError } from '../shared/errors.ts';

/** Matches what begins like a key: `psk_…`, `pk_live_…`. Any other key is only known if a variable has it. */
const keyPattern = /(?<![a-z\d])(?:psk|sk|pk)[-_][\w-]{8,}/gi;

const inHistory =
  "A key on the command line stays in the shell's history. If that was a real key, remove it from the history";

/**
 * Refuses an operand that is like a key.
 * @throws UsageError, without repeating the operand
 */
export function refuseTypedKey(operands: readonly string[], command: string): void {
  if (!operands.some(mayHoldKey)) return;
  throw new UsageError(`petstock ${command} does not take a key. ${inHistory}`, { hint: 'petstock config set-key' });
}

export function mayHoldKey(word: string): boolean {
  return withoutKeys(word) !== word;
}

/** Returns a text with `[not shown]` for each key in it. */
export function withoutKeys(text: string, known: readonly string[] = []): string {
  const hidden = '[not shown]';
  return known.reduce((rest, key) => rest.replaceAll(key, hidden), text).replace(keyPattern, hidden);
}

/** Returns the texts of a usage error, which may repeat any typed word, with `[not shown]` for each key. */
export function withoutTypedKeys<Texts extends Pick<PetstockError, 'message' | 'lines' | 'hint'>>(
  texts: Texts,
  env: Readonly<Record<string, string | undefined>>,
): Texts {
  const known = Object.keys(env).flatMap((name) => (/^PETSTOCK_(.*_)?API_KEY/.test(name) && env[name]) || []);
  const hide = (text: string) => withoutKeys(text, known);
  const message = hide(texts.message);
  const lines = texts.lines.map(hide);
  const isHintSame = texts.hint === undefined || hide(texts.hint) === texts.hint;
  const isSame = message === texts.message && lines.every((line, index) => line === texts.lines[index]);
  // If only the hint contains the key, the error is about something else: it gets no hint rather than one about keys.
  if (isSame) return { ...texts, hint: isHintSame ? texts.hint : undefined };
  const hint = isHintSame ? texts.hint : 'petstock config set-key';
  return { ...texts, message, lines: [...lines, `${inHistory}.`], hint };
}
