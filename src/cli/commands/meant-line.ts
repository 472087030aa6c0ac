/** Words for a command that people type by habit, and what they are here. @param rest the words behind it */
const otherNames: Readonly<Record<string, (rest: readonly string[]) => readonly string[]>> = {
  ls: (rest) => ['inventory', 'list', ...rest],
  low: (rest) => ['inventory', 'list', '--low', ...rest],
  find: (rest) => ['inventory', 'list', '--name', ...rest],
  sell: (rest) => ['inventory', 'adjust', ...signed(rest, '-')],
  receive: (rest) => ['inventory', 'adjust', ...signed(rest, '+')],
  add: (rest) => ['inventory', 'adjust', ...signed(rest, '+')],
};

const signed = ([petId, units, ...others]: readonly string[], sign: string) =>
  [petId ?? [], units === undefined ? [] : `${sign}${units.replace(/^[+-]/, '')}`, others].flat();

/** Returns the words of the command that another name stands for; undefined if it is none. */
export function otherName(word: string, rest: readonly string[]): readonly string[] | undefined {
  return Object.hasOwn(otherNames, word) ? otherNames[word]?.(isShowable(rest) ? rest : []) : undefined;
}

/** Returns the words of the command that was meant, as far as they may be shown. */
export function meantLine(command: readonly string[], rest: readonly string[]): readonly string[] | undefined {
  const words = rest.map((word) => (command.at(-1) === 'list' && word === 'low' ? '--low' : word));
  return words.length > 0 && isShowable(words) ? [...command, ...words] : undefined;
}

/** Only ids, numbers, short words and files: anything else may be a key. */
function isShowable(words: readonly string[]): boolean {
  return words.every((word) =>
    /^(?:[+-]?\d{1,19}(?:=[+-]?\d{1,19})?|--?[a-z-]{1,20}|[a-z]{1,12}|[\w.-]{1,40}\.(?:csv|tsv|json|ndjson))$/i.test(
      word,
    ),
  );
}
