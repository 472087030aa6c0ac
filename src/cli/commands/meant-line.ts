/**
 * Words that people type out of habit, each with a function that returns the command to suggest. The function receives
 * the words that follow.
 */
const otherNames: Readonly<Record<string, (rest: readonly string[]) => readonly string[]>> = {
  ls: (rest) => listLine(rest),
  low: (rest) => ['inventory', 'list', '--low', ...rest],
  find: (rest) => ['inventory', 'list', '--name', ...rest],
  sell: (rest) => ['inventory', 'adjust', ...signed(rest, '-')],
  receive: (rest) => ['inventory', 'adjust', ...signed(rest, '+')],
  add: (rest) => ['inventory', 'adjust', ...signed(rest, '+')],
  'get-key': () => ['config', 'list'],
};

/** Turns `4 2` into `4 -2`; without a number, the change is one unit. */
function signed([petId, units, ...others]: readonly string[], sign: string): readonly string[] {
  if (petId === undefined) return ['--help'];
  const isNumber = /^[+-]?\d+$/.test(units ?? '');
  const rest = isNumber || units === undefined ? others : [units, ...others];
  return [petId, `${sign}${isNumber ? units?.replace(/^[+-]/, '') : 1}`, ...rest];
}

/** Returns the words of the command that a habitual word stands for; undefined if there is none. */
export function otherName(word: string, rest: readonly string[]): readonly string[] | undefined {
  return Object.hasOwn(otherNames, word) ? otherNames[word]?.(isShowable(rest) ? rest : []) : undefined;
}

/** Returns the words of the probable command line; undefined if they may contain a key. */
export function meantLine(command: readonly string[], rest: readonly string[]): readonly string[] | undefined {
  if (!isShowable(rest)) return undefined;
  return command.join(' ') === 'inventory list' ? listLine(rest) : [...command, ...rest];
}

/** Returns the line with another option instead of an unknown one; undefined if it may contain a key. */
export function lineWith(typed: readonly string[], option: string, meant: string): readonly string[] | undefined {
  const corrected = typed.flatMap((word) => {
    if (word === option) return meant.split(' ');
    return word.startsWith(`${option}=`) ? meant + word.slice(option.length) : word;
  });
  return isShowable(corrected) ? corrected : undefined;
}

/**
 * Returns a line for `inventory list`, which takes only options: a word becomes the value of the matching option. For a
 * pet id, returns a line for `inventory get`.
 */
function listLine(rest: readonly string[]): readonly string[] {
  const [word = '', ...others] = rest;
  if (word === '' || word.startsWith('-')) return ['inventory', 'list', ...rest];
  if (/^\d+$/.test(word)) return ['inventory', 'get', ...rest];
  const isStatus = /^(?:available|pending|sold)$/i.test(word);
  const option = word === 'low' ? ['--low'] : [isStatus ? '--status' : '--name', word];
  return ['inventory', 'list', ...option, ...others];
}

/** Reports whether all words are ids, numbers, short words, dates or files. Anything else may be a key. */
function isShowable(words: readonly string[]): boolean {
  const option = /^--?[a-z-]{1,20}(?:=|$)/;
  const part = /^(?:|[+-]?\d{1,19}|\d{1,4}[a-z]|\d{4}-\d\d-\d\d|[\w.-]{1,40}\.(?:csv|tsv|json|ndjson)|\p{L}{1,12})$/u;
  const partsOf = (word: string) => word.replace(option, '').split(/[\s,='"]+/);
  return words.every((word) => partsOf(word).every((text) => part.test(text)));
}
