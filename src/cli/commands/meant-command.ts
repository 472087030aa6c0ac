import { nearest } from '../../shared/did-you-mean.ts';
import { UsageError } from '../../shared/errors.ts';
import { petstock, withWords } from '../../shared/hint.ts';
import { environmentNames } from '../../shared/target.ts';
import { mayHoldKey } from '../typed-keys.ts';
import { type Command, commandNamed, commandsBelow } from './command.ts';
import { root } from './index.ts';

/**
 * Returns the error for an unknown command. Its hint is the typed line with the probable command, or help.
 * @param names the words of the command that was found before it
 */
export async function unknownCommand(
  names: readonly string[],
  word: string,
  argv: readonly string[],
): Promise<UsageError> {
  const rest = restBehind(argv, names, word);
  const other = otherName(names, word, rest.some(mayHoldKey) ? [] : rest);
  if (other !== undefined) return new UsageError(`Unknown command "${word}"`, { hint: petstock`${other}` });
  const meant = await meantCommand(names, word);
  const takesRest = meant !== undefined && takes(await commandOf(meant), rest);
  const line = (meant && meantLine(meant, rest)) ?? (takesRest ? [...meant, ...rest] : undefined);
  return new UsageError(`Unknown command "${word}"${suggestion(meant && pathOf(meant))}`, {
    hint: lineOrHelp(line, meant ?? names),
  });
}

/** Returns the error for an unknown option. Its hint is the typed line with the probable option, or help. */
export function unknownOption(
  names: readonly string[],
  flag: string,
  argv: readonly string[],
  options: readonly KnownOption[],
): UsageError {
  const other = otherName(names, flag, []);
  const hint = shellLines[[...names, flag].join(' ')] ?? (other && petstock`${other}`);
  if (hint !== undefined) return new UsageError(`Unknown option "${flag}"`, { hint });
  const meant = meantOption(options, flag);
  const line = meant === undefined ? undefined : withWords(argv, [flag], meant.split(' '));
  return new UsageError(`Unknown option "${flag}"${suggestion(meant)}`, { hint: lineOrHelp(line, names) });
}

/** Returns the error for a word that a command does not take. */
export function tooMany(names: readonly string[], word: string, argv: readonly string[]): UsageError {
  const line = meantLine(names, restBehind(argv, names.slice(0, -1), names.at(-1) ?? ''));
  return new UsageError(`Unexpected word "${word}": ${pathOf(names)} does not take it`, {
    hint: lineOrHelp(line, names),
  });
}

/** Returns the names of the command that was probably meant; undefined if none is near enough. */
export async function meantCommand(names: readonly string[], word: string): Promise<readonly string[] | undefined> {
  const isProgram = names.length === 0;
  if (!isProgram && (await commandNamed(word, root.commands)) !== undefined) return [word];
  // The first noun that has this verb: `inventory` for `list`.
  const nouns = isProgram ? await commandsBelow(root) : [];
  const noun = nouns.find(({ command }) => Object.hasOwn(command.commands ?? {}, word));
  if (noun !== undefined) return [noun.name, word];
  const near = nearest(word, Object.keys((await commandOf(names)).commands ?? {}));
  return near === undefined ? undefined : [...names, near];
}

/** @param names the words of a command that exists */
async function commandOf(names: readonly string[]): Promise<Command> {
  let found = root;
  for (const name of names) found = (await commandNamed(name, found.commands)) ?? found;
  return found;
}

interface KnownOption {
  readonly long?: string | undefined;
}

/** Returns the option that was probably meant: for `--production`, `--env production`. */
function meantOption(options: readonly KnownOption[], flag: string): string | undefined {
  const name = flag.replace(/^--?/, '');
  const near = nearest(
    name,
    options.flatMap(({ long }) => long?.slice(2) ?? []),
  );
  if (near !== undefined) return `--${near}`;
  const environment = name.length < 4 ? undefined : environmentNames.find((known) => known.startsWith(name));
  return environment && `--env ${environment}`;
}

/** Returns the words after a word of the line, followed by the words before it that are not names of commands. */
function restBehind(typed: readonly string[], names: readonly string[], word: string): readonly string[] {
  const at = typed.indexOf(word);
  return [...typed.slice(at + 1), ...typed.slice(0, at).filter((before) => !names.includes(before))];
}

/**
 * Reports whether a command takes these words: no operand is missing, and the first word is not an operand if the
 * command takes none.
 */
function takes({ operands = {}, commands }: Command, rest: readonly string[]): boolean {
  const taken = commands === undefined ? Object.keys(operands) : ['<verb>'];
  if (taken.length === 0 && /^[^-]/.test(rest[0] ?? '')) return false;
  return rest.filter((word) => !/^-\D/.test(word)).length >= taken.filter((name) => name.startsWith('<')).length;
}

function suggestion(meant: string | undefined): string {
  return meant === undefined ? '' : ` (Did you mean ${meant}?)`;
}

/** Returns the words of a command, such as `petstock inventory set`. */
function pathOf(names: readonly string[]): string {
  return ['petstock', ...names].join(' ');
}

/** Returns a line as a hint, or the help of a command if there is no line, or if it may contain a key. */
function lineOrHelp(line: readonly string[] | undefined, names: readonly string[]): string {
  return line === undefined || line.some(mayHoldKey) ? `${pathOf(names)} --help` : petstock`${line}`;
}

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
const shellLines: Readonly<Record<string, string>> = {
  'inventory count --list': 'ls count-*.txt',
  'inventory count --merge': 'cat aisle-3.txt aisle-4.txt | petstock inventory count',
  'inventory count --discard': 'rm aisle-3.txt',
};

/**
 * Returns the words of the command that does the job of an unknown command or option; undefined if there is none.
 * @param names the words of the command before `word`
 */
function otherName(names: readonly string[], word: string, rest: readonly string[]): readonly string[] | undefined {
  const path = [...names, word].join(' ');
  if (Object.hasOwn(otherLines, path)) return otherLines[path];
  return Object.hasOwn(otherNames, word) ? otherNames[word]?.(rest) : undefined;
}

/** Returns the words of the line that the user probably meant; undefined for all commands but `inventory list`. */
function meantLine(command: readonly string[], rest: readonly string[]): readonly string[] | undefined {
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
