import { isEnvironment, type Target } from './target.ts';

/** A word of a command line, or several. */
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
    else if (index < inserted.length) line = line.replace(/ $/, '');
  }
  return line;
}

/** Returns the options that select a target. */
export function targetWords({ store, env }: Target): readonly string[] {
  if (!isEnvironment(env)) return [];
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

/** Replaces a word of a command line. Returns undefined unless the word occurs exactly once. */
export function withWord(argv: readonly string[], wrong: string, right: string): readonly string[] | undefined {
  const at = argv.indexOf(wrong);
  return at < 0 || at !== argv.lastIndexOf(wrong) ? undefined : argv.with(at, right);
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
