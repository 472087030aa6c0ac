/** Words that people type out of habit, each with a function that turns the rest of the line into a suggestion. */
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

/** The options of `apply` that single writes don't take. */
const bulkOptions = ['changed', 'concurrency', 'exit-code', 'fail-fast', 'max-changes', 'max-zero'];

/** Lines that do the job of a command or option that does not exist, by that command, or command and option. */
const otherLines: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['set', 'adjust'].flatMap((verb) =>
      bulkOptions.map((name) => [`inventory ${verb} --${name}`, ['inventory', 'apply', '--help']]),
    ),
  ),
  'inventory count --new': ['inventory', 'count'],
  'inventory count --closed': ['history', 'list'],
  ...Object.fromEntries(
    ['session', 'label'].map((name) => [`inventory count --${name}`, ['inventory', 'count', 'aisle-3.txt']]),
  ),
  'config stores': ['config', 'list'],
  licenses: ['help', 'files'],
  'state grant': ['state', 'init', '--help'],
  'sandbox export': ['--env', 'sandbox', 'inventory', 'export'],
  'sandbox backup': ['sandbox', 'info'],
  'sandbox keys': ['sandbox', 'info'],
};

/** Lines of the shell that do the job of an option that does not exist: a count is a file of scans. */
export const shellLines: Readonly<Record<string, string>> = {
  'inventory count --list': 'ls count-*.txt',
  'inventory count --merge': 'cat aisle-3.txt aisle-4.txt | petstock inventory count',
  'inventory count --discard': 'rm aisle-3.txt',
};

/**
 * Returns the words of the command that does the job of an unknown command or option; undefined if there is none.
 * @param names the words of the command before `word`
 */
export function otherName(
  names: readonly string[],
  word: string,
  rest: readonly string[],
): readonly string[] | undefined {
  const path = [...names, word].join(' ');
  if (Object.hasOwn(otherLines, path)) return otherLines[path];
  return Object.hasOwn(otherNames, word) ? otherNames[word]?.(rest) : undefined;
}

/** Returns the words of the line that the user probably meant; undefined for all commands but `inventory list`. */
export function meantLine(command: readonly string[], rest: readonly string[]): readonly string[] | undefined {
  return command.join(' ') === 'inventory list' ? listLine(rest) : undefined;
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
