export const environmentNames = ['staging', 'production', 'sandbox'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** The store and the environment that a command works on. */
export interface Target {
  /** Undefined for the store without a name. */
  readonly store?: string | undefined;
  readonly env: string;
}

/** Returns the name for people: `north/staging`, or `staging` for the store without a name. */
export function targetName({ store, env }: Target): string {
  return store === undefined ? env : `${store}/${env}`;
}

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
 * Returns the candidate that was most likely meant by `word`: one that begins with it, contains it as a part (`env` for
 * `default-env`), or differs by a few letters. Undefined if none is close.
 */
export function nearest<Name extends string>(word: string, candidates: readonly Name[]): Name | undefined {
  const typed = plain(word);
  if (typed.length < 2) return undefined;
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distanceTo(typed, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((left, right) => left.distance - right.distance);
  return ranked[0]?.candidate;
}

/** Returns a text like ` Did you mean "production"?`, with a space before it; empty if no candidate is close. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

function distanceTo(typed: string, candidate: string): number {
  if (plain(candidate) === typed) return 0;
  if (plain(candidate).startsWith(typed)) return 0.5;
  if (candidate.split(/[-.]/).includes(typed)) return 0.75;
  if (typed.length > 4 && plain(candidate).startsWith(typed.slice(0, -1))) return 0.9;
  return Math.abs(typed.length - candidate.length) > 8
    ? Number.POSITIVE_INFINITY
    : editDistance(typed, plain(candidate));
}

/** Removes what is often omitted or written differently: case, `-`, `_`, `.` and spaces. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[-_.\s]/g, '');
}

/**
 * Returns how many letters must be added, removed, changed or swapped with their neighbour to turn one word into the
 * other (optimal string alignment).
 */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
