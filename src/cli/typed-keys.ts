import { type PetstockError, UsageError } from '../shared/errors.ts';

const hidden = '[not shown]';
/**
 * Matches a word that begins like a key. After "live", "test" or "prod", a letter and a digit distinguish a key from a
 * name, because stores and files have such names.
 */
const keyPrefix = /^(?:p?sk[-_][\w-]{8,}|[a-z]{2,8}[-_](?:live|test|prod)[-_](?=\d*[a-z])(?=\D*\d)[^\W_]{12,})$/i;
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const keyPath = /^p?sk\//i;
/**
 * Matches a path with a folder that is named with words, such as `exports/` or `StockExports/`. Random letters, as in
 * Base64, are not such a name.
 */
const folderName = /(?:^|\/)(?:[A-Z]{2,}|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*)\//;
const runId = /^\d{8}-?T?\d{6}Z?(-[0-9a-z]{4})?$/;

/**
 * Reports whether a word of the command line may be a key: it begins like one, is a UUID, or a long part of it mixes
 * letters and digits. The id of a run is not a key. A word with a slash is more likely a path, unless it mixes letters
 * of both cases, does not begin like a path, and has neither an extension nor a folder named with words.
 */
export function looksLikeKey(word: string): boolean {
  if (keyPrefix.test(word) || uuid.test(word)) return true;
  if (runId.test(word) || !/^[\w+=~./-]+$/.test(word)) return false;
  const hasFolder = folderName.test(word) && !keyPath.test(word);
  const isPath = hasFolder || /^[./~]|\..*$/.test(word) || !(/[a-z]/.test(word) && /[A-Z]/.test(word));
  if (word.includes('/') && isPath) return false;
  return word.split(/[-_./]/).some((part) => part.length >= 16 && /[a-z]/i.test(part) && /\d/.test(part));
}

/**
 * Refuses an operand that begins like a key.
 * @throws UsageError, without repeating the operand
 */
export function refuseTypedKey(operands: readonly string[], command: string): void {
  // Checks the length first, because compiling `keyPrefix` takes 0.4 ms of each start and no key has fewer than 11
  // characters. An omitted operand is tested as the word `undefined`.
  if (!operands.some((word) => /.{11}/.test(word) && keyPrefix.test(word))) return;
  throw new UsageError(`petstock ${command} does not take a key. ${inHistory}`, { hint: 'petstock config set-key' });
}

/** Reports whether a part of a word may be a key. */
export function mayHoldKey(word: string): boolean {
  return partsOf(word).some(looksLikeKey);
}

/** Returns a text with `[not shown]` for each part that may be a key. */
export function withoutKeys(text: string): string {
  return without(partsOf(text).filter(looksLikeKey), text);
}

function without(keys: readonly string[], text: string): string {
  const longestFirst = keys.toSorted((left, right) => right.length - left.length);
  return longestFirst.reduce((rest, key) => rest.replaceAll(key, hidden), text);
}

const inHistory =
  "A key on the command line stays in the shell's history. If that was a real key, remove it from the history";

/**
 * Returns the texts of an error, with `[not shown]` for each part of a typed word that may be a key. All usage errors
 * pass through this function, so any message may repeat a typed word. The value of a variable for a key is hidden,
 * whatever it looks like.
 */
export function withoutTypedKeys<Texts extends Pick<PetstockError, 'message' | 'lines' | 'hint'>>(
  texts: Texts,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Texts {
  const known = new Set(Object.keys(env).flatMap((name) => (/^PETSTOCK_(.*_)?API_KEY/.test(name) ? [env[name]] : [])));
  const keys = typedWords(argv)
    .flatMap(({ text, isFree }) =>
      partsOf(text).filter((part) => known.has(part) || (isFree ? keyPrefix.test(part) : looksLikeKey(part))),
    )
    .filter((part) => part !== '');
  const hide = (text: string) => without(keys, text);
  const message = hide(texts.message);
  const lines = texts.lines.map(hide);
  const isHintSame = texts.hint === undefined || hide(texts.hint) === texts.hint;
  const isSame = message === texts.message && lines.every((line, index) => line === texts.lines[index]);
  // If only the hint contains the key, the error is about something else: it gets no hint rather than one about keys.
  if (isSame) return { ...texts, hint: isHintSame ? texts.hint : undefined };
  const hint = isHintSame ? texts.hint : 'petstock config set-key';
  return { ...texts, message, lines: [...lines, `${inHistory}.`], hint };
}

interface TypedWord {
  readonly text: string;
  /**
   * Whether this is the value of `--reason` or `--ref`, where the number of a parcel or an order may look like a key.
   */
  readonly isFree: boolean;
}

function typedWords(argv: readonly string[]): readonly TypedWord[] {
  const words: TypedWord[] = [];
  let isValue = false;
  let areOperands = false;
  for (const text of argv) {
    words.push({ text, isFree: isValue || (!areOperands && /^--(?:reason|ref)=/.test(text)) });
    areOperands ||= text === '--' && !isValue;
    isValue = !isValue && !areOperands && /^--(?:reason|ref)$/.test(text);
  }
  return words;
}

/** Returns a word, the value attached to its option, and the parts between its separators. */
function partsOf(word: string): readonly string[] {
  return [word, word.slice(word.indexOf('=') + 1), word.replace(/^-[a-z]/, ''), ...word.split(/[=:,\s]+/)];
}
