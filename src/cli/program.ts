import { Command as Commander, CommanderError, Option } from 'commander';
import { sharedOptions } from '../settings/shared-options.ts';
import { UsageError } from '../shared/errors.ts';
import type { FlagValues } from '../shared/hint.ts';
import { capitalized } from '../shared/parsed.ts';
import { version } from '../shared/version.ts';
import { type Command, commandNamed, type OptionRow } from './commands/command.ts';
import { root } from './commands/root.ts';

/** A command line, as far as it can be understood. */
export interface CommandLine {
  /** The words of the command, such as `['inventory', 'set']`; empty for the program. */
  readonly names: readonly string[];
  /** Whether a damaged configuration stops the command. */
  readonly needsConfig: boolean;
  /** The options that all commands share, as typed. If one is repeated, its last value counts. */
  readonly shared: FlagValues;
  /** What the line wants; an error if it can't be understood. */
  readonly wants: 'version' | Help | Run | { readonly error: unknown };
}

interface Help {
  /** The words of a command, or a topic. */
  readonly help: readonly string[];
}

interface Run extends Required<Pick<Command, 'run'>> {
  readonly formats: Command['formats'] | undefined;
  readonly takesAnyWord: boolean;
  /** The command's own options as they were typed, for hints. */
  readonly typed: FlagValues;
  /** Their values. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
}

export async function readCommandLine(argv: readonly string[]): Promise<CommandLine> {
  const found = await findCommand(argv);
  const { names, needsConfig, command, rest } = found;
  const commander = commanderOf(names, command);
  const failure = failureOf(() => commander.parse(rest, { from: 'user' }));
  const own = ownNames(command);
  const values = commander.opts();
  const typed = Object.fromEntries(Object.entries(values).filter(([name]) => own.has(name)));
  // Without `--no-pager`, Commander has a default for it.
  const ofAll = commander.options
    .map((option) => option.attributeName())
    .filter((name) => !own.has(name) && commander.getOptionValueSource(name) === 'cli');
  const shared = Object.fromEntries(ofAll.map((name) => [name, values[name]]));
  const wants = await wantsOf({ ...found, commander, failure, shared, typed }).catch((error) => ({ error }));
  return { names, needsConfig, shared, wants };
}

function failureOf(work: () => void): { readonly code: string; readonly message: string } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error;
    throw error;
  }
}

interface ParsedLine extends Awaited<ReturnType<typeof findCommand>> {
  readonly commander: Commander;
  readonly failure: ReturnType<typeof failureOf>;
  readonly shared: FlagValues;
  readonly typed: FlagValues;
}

/** @throws UsageError for a line that can't be understood */
async function wantsOf(line: ParsedLine): Promise<CommandLine['wants']> {
  const { names, command, rest, commander, failure, shared, typed } = line;
  const { run, formats, takesAnyWord = false } = command;
  if (run !== undefined) requireValues(names, commander, rest);
  if (failure?.code === 'commander.version') return 'version';
  if (failure?.code === 'commander.helpDisplayed') return { help: names };
  if (failure !== undefined) throw await usageError(failure, line);
  const operands = commander.args;
  if (run !== undefined) return { run, formats, takesAnyWord, typed, options: valuesOf(command, typed), operands };
  if (names[0] !== 'help') return { help: names };
  if (shared.json || shared.output !== undefined)
    throw new UsageError('help prints its own text. Leave out -o and --json');
  return { help: operands };
}

/**
 * Finds the command that a line names. Options that all commands share may stand before or between its words.
 * @returns also the other words of the line, and the word that is no command below the one that was found
 */
async function findCommand(argv: readonly string[]) {
  const names: string[] = [];
  const options: string[] = [];
  let command = root;
  let needsConfig = true;
  let at = 0;
  for (;;) {
    const word = argv[at] ?? '';
    const length = optionLength(word);
    const below = length > 0 ? undefined : await commandNamed(word, command.commands);
    if (length > 0) {
      options.push(...argv.slice(at, at + length));
      at += length;
    } else if (below !== undefined) {
      names.push(word);
      command = below;
      needsConfig = below.needsConfig ?? needsConfig;
      at += 1;
    } else break;
  }
  const unknown = command.commands === undefined || /^-./.test(argv[at] ?? '-x') ? undefined : argv[at];
  return { names, needsConfig, command, rest: [...options, ...argv.slice(at)], unknown };
}

/** Returns how many words a shared option takes: `-e sandbox`, `-qe sandbox`, `--env=sandbox`; 0 if it is none. */
function optionLength(word: string): number {
  const takesValue = (flag: string) =>
    Object.values(sharedOptions)
      .find(({ flags }) => flags.split(/[ ,]+/).includes(flag))
      ?.flags.includes('<');
  if (word.startsWith('--')) {
    const [flag = ''] = word.split('=', 1);
    const takes = takesValue(word) ?? takesValue(flag);
    return takes === undefined ? 0 : takes && flag === word ? 2 : 1;
  }
  if (!/^-./.test(word)) return 0;
  for (const [index, letter] of [...word.slice(1)].entries()) {
    const takes = takesValue(`-${letter}`);
    if (takes === undefined) return 0;
    if (takes) return index + 2 === word.length ? 2 : 1;
  }
  return 1;
}

/** Returns Commander's view of a command: it parses the words after its name, and lays out its help. */
export function commanderOf(names: readonly string[], command: Command): Commander {
  const { usage, operands = {}, description, options = [], takesAnyWord = false } = command;
  const commander = new Commander(['petstock', ...names].join(' '))
    .helpCommand(false)
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .showSuggestionAfterError(false)
    .allowUnknownOption(takesAnyWord)
    .allowExcessArguments(takesAnyWord)
    .description(description);
  if (usage !== undefined) commander.usage(usage);
  for (const [operand, row] of Object.entries(operands)) {
    commander.argument(operand, typeof row === 'string' ? row : row[0]);
  }
  for (const row of options) commander.addOption(optionOf(row));
  // A command's own option takes precedence over one with the same name: `api --header`.
  const own = ownNames(command);
  const isHidden = names.length > 0;
  const shared = Object.values(sharedOptions).map(({ flags, about }) => new Option(flags, about).hideHelp(isHidden));
  commander.version(version, '-V, --version', 'show the version').options.at(-1)?.hideHelp(isHidden);
  for (const option of shared) if (!own.has(option.attributeName())) commander.addOption(option);
  return commander;
}

function optionOf([flags, about, kind]: OptionRow): Option {
  const option = new Option(flags, about);
  if (kind !== undefined && 'isRepeated' in kind) {
    option.argParser((text, earlier: readonly string[] | undefined) => [...(earlier ?? []), text]);
  }
  return option;
}

function ownNames({ options = [] }: Command): ReadonlySet<string> {
  return new Set(options.map((row) => optionOf(row).attributeName()));
}

/** @throws UsageError for the first invalid text */
function valuesOf({ options = [] }: Command, typed: FlagValues): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = { ...typed };
  for (const row of options) {
    const [, , kind] = row;
    const option = optionOf(row);
    const name = option.attributeName();
    const text = typed[name];
    if (kind === undefined || text === undefined) continue;
    if (typeof text !== 'boolean') values[name] = readValue(kind, text, option.long ?? '');
  }
  return values;
}

function readValue(kind: NonNullable<OptionRow[2]>, text: string | readonly string[], option: string): unknown {
  if (typeof text === 'string') return kind.read(text, option);
  const isList = 'isList' in kind && kind.isList;
  const texts = isList ? text.flatMap((each) => each.split(',')).map((each) => each.trim()) : text;
  return texts.map((each) => kind.read(each, option));
}

/**
 * Refuses an option where the value of another option is expected. If `$R` is empty, `--reason $R --dry-run` would
 * otherwise write, with `--dry-run` as the reason.
 * @throws UsageError if an option has an option as its value
 */
function requireValues(names: readonly string[], { options }: Commander, words: readonly string[]): void {
  for (let at = 0; at < words.length && words[at] !== '--'; at += 1) {
    const option = options.find(({ long, short }) => words[at] === long || words[at] === short);
    if (option?.required !== true) continue;
    at += 1;
    const [value = ''] = words[at]?.split('=', 1) ?? [];
    if (value !== '--help' && !options.some(({ long }) => long === value)) continue;
    throw lacksValue(
      names,
      option.flags,
      `, but "${value}" is an option. To use it as a value, write ${option.long}=…`,
    );
  }
}

/** Words an error of Commander, which gives the wrong word only in its message, in single quotes. */
async function usageError(
  { code, message }: NonNullable<ParsedLine['failure']>,
  { names, commander, command, unknown }: ParsedLine,
): Promise<UsageError> {
  const { options, registeredArguments, args } = commander;
  const word = message.slice(message.indexOf("'") + 1, message.lastIndexOf("'"));
  const meant = () => import('./commands/meant-command.ts');
  if (unknown !== undefined && command.run === undefined) return (await meant()).unknownCommand(names, unknown);
  switch (code) {
    case 'commander.unknownOption': {
      // The value may be a key, so only the option is shown.
      const [flag = ''] = word.split('=', 1);
      if (options.some(({ long }) => long === flag)) return wrong(names, `Option "${flag}" does not take a value`);
      const known = options.flatMap(({ long }) => long?.slice(2) ?? []);
      return (await meant()).unknownOption(names, flag, known);
    }
    case 'commander.missingArgument': {
      const operand = registeredArguments.find((argument) => argument.name() === word);
      return wrong(names, `The ${word} is missing: ${operand?.description}`);
    }
    case 'commander.optionMissingArgument':
      return lacksValue(names, word);
    case 'commander.excessArguments':
      return wrong(
        names,
        `Unexpected word "${args[registeredArguments.length]}": ${['petstock', ...names].join(' ')} does not take it`,
      );
    default:
      return wrong(names, capitalized(message.replace(/^error: /, '')));
  }
}

function lacksValue(names: readonly string[], flags: string, rest = ''): UsageError {
  return wrong(names, `Option "${flags}" needs a value${rest}`);
}

function wrong(names: readonly string[], message: string): UsageError {
  return new UsageError(message, { hint: `${['petstock', ...names].join(' ')} --help` });
}
