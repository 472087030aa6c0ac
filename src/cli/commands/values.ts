import { type Parsed, parsePetId, parseQuantity } from '../../inventory/values.ts';
import { UsageError } from '../../shared/errors.ts';

/** The value, or a UsageError with its fault. @param what `--limit`, put in front if the fault does not say it */
export function required<T>(parsed: Parsed<T>, what?: string): T {
  if (parsed.ok) return parsed.value;
  const { fault } = parsed;
  const message = what === undefined ? fault.charAt(0).toUpperCase() + fault.slice(1) : `${what}: ${fault}`;
  throw new UsageError(`${message}.`);
}

/** The parts of `a,b,c`, given once or several times. @returns undefined if the option is absent */
export function listOf<T>(
  texts: readonly string[] | undefined,
  option: string,
  parse: (text: string) => Parsed<T>,
): ReadonlySet<T> | undefined {
  if (texts === undefined) return undefined;
  return new Set(texts.flatMap((text) => text.split(',')).map((part) => required(parse(part.trim()), option)));
}

export function petIdOf(text: string): bigint {
  return required(parsePetId(text));
}

/** @returns undefined if the option is absent */
export function quantityOf(text: string | undefined, option: string): number | undefined {
  return text === undefined ? undefined : required(parseQuantity(text), option);
}

/** @throws UsageError for a name that is empty, such as that of a variable which is not set */
export function requireFileName(file: string, what: string): void {
  if (file === '') throw new UsageError(`${what} takes a file, and its name is empty`);
}

/** Commander's parser for an option that may be given several times. */
export function collect(text: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), text];
}

/** @returns undefined if the option is absent */
export function wholeNumberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number from 0, such as 100; not "${text}"`);
}

/** The word, which has to be one of those that the option takes. */
export function oneOf<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw new UsageError(`${option} takes ${words.join(', ')}; not "${text}"`);
}
