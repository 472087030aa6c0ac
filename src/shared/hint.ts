import type { Target } from './target.ts';

export type Words = string | number | bigint | readonly string[];

/**
 * Returns a command line to copy: petstock`undo ${run} ${targetWords(where)}`. Inserted words are quoted for a POSIX
 * shell, because they may come from a database, a file or a service. An empty list inserts nothing.
 */
export function petstock(texts: readonly string[], ...inserted: readonly Words[]): string {
  let line = 'petstock ';
  for (const [index, text] of texts.entries()) {
    const words = [inserted[index] ?? []].flat();
    line += text;
    if (words.length > 0) line += words.map((word) => shellWord(String(word))).join(' ');
    else line = line.replace(/ $/, '');
  }
  return line;
}

/**
 * Returns a command line that applies rows of pets and quantities or deltas:
 * `printf 'petId,delta\n5,-3\n8,+4\n' | petstock inventory apply - --yes`.
 * @param options the options of `apply` and of the program
 */
export function applyRows(
  column: 'quantity' | 'delta',
  rows: readonly (readonly string[])[],
  options: readonly string[],
): string {
  const lines = [`petId,${column}`, ...rows.map((row) => row.join(','))];
  return `printf '${lines.join('\\n')}\\n' | ${petstock`inventory apply - ${options}`}`;
}

/** Returns the options that select a target. */
export function targetWords({ store, env }: Target): readonly string[] {
  return [...(store === undefined ? [] : ['--store', store]), '--env', env];
}

/**
 * Returns a file as an operand. A name that begins with a dash gets a `./`, because it would look like an option. `-`
 * is stdin.
 */
export function fileOperand(file: string): string {
  return /^-./.test(file) ? `./${file}` : file;
}

/** Quotes a word for a POSIX shell, in single quotes if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Options by their names in Commander, such as `stringIds`. An option that was not given is undefined. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

interface TypedLine {
  /** The options of the command itself. */
  readonly options: FlagValues;
  /** The options that all commands share. */
  readonly globals: { readonly typed: FlagValues };
  readonly target: Target;
}

/**
 * Returns the words of a command with the options and the target of this command line.
 * @param command the name and the operands of the command
 * @param changes the command's own options to add, to replace, or to leave out (undefined)
 */
export function commandLine(
  { options, globals, ...line }: TypedLine,
  command: readonly string[],
  changes: FlagValues = {},
  target: Target = line.target,
): readonly string[] {
  const { env: _env, store: _store, ...shared } = globals.typed;
  return [...command, ...flagWords({ ...options, ...changes }), ...flagWords(shared), ...targetWords(target)];
}

/** Returns options as words of a command line: `--all --max-zero 3`. */
export function flagWords(flags: FlagValues): readonly string[] {
  return Object.entries(flags).flatMap(([key, given]) => {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [given ?? []].flat().flatMap((value) => optionWords(name, value));
  });
}

/** Returns an option as words. An empty value, or one that begins with a dash like an option, is joined with `=`. */
function optionWords(name: string, value: string | boolean): readonly string[] {
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
  return /^-./.test(value) || value === '' ? [`--${name}=${value}`] : [`--${name}`, value];
}

/**
 * Replaces consecutive words in a command line. A value after `=` in the last word is kept. Returns undefined unless
 * the words occur exactly once.
 */
export function withWords(
  argv: readonly string[],
  wrong: readonly string[],
  right: readonly string[],
): readonly string[] | undefined {
  const last = wrong.length - 1;
  const isWrong = (_word: string, at: number) =>
    wrong.every((word, index) => {
      const typed = argv[at + index];
      return typed === word || (index === last && typed?.startsWith(`${word}=`));
    });
  const at = argv.findIndex(isWrong);
  if (at < 0 || at !== argv.findLastIndex(isWrong)) return undefined;
  const value = argv[at + last]?.slice(wrong[last]?.length) ?? '';
  return argv.toSpliced(at, wrong.length, ...right.slice(0, -1), `${right.at(-1)}${value}`);
}

/** Adds an option to the words of a command line, before a `--`, because that ends the options. */
export function withOption(argv: readonly string[], option: string): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.toSpliced(end, 0, option);
}

/**
 * Returns the words of a command line with another value for an option, as a separate word or after `=`. The option is
 * added if its value came from elsewhere, such as a variable. A store may also precede an environment: `north/staging`.
 */
export function withValue(
  argv: readonly string[],
  [short, long]: readonly [short: string, long: string],
  wrong: string,
  right: string,
): readonly string[] {
  const corrected = argv.map((word, index) => {
    if (word === wrong && [short, long].includes(argv[index - 1] ?? '')) return right;
    if (word === `${long}=${wrong}`) return `${long}=${right}`;
    if (word === short + wrong || word === `${short}=${wrong}`) return short + right;
    return word.startsWith(`${wrong}/`) ? right + word.slice(wrong.length) : word;
  });
  return corrected.some((word, index) => word !== argv[index]) ? corrected : [...argv, long, right];
}
