import { Command, type ErrorOptions, Option, type ParseOptionsResult } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import type { FlagValues } from '../../shared/hint.ts';
import { capitalized } from '../../shared/parsed.ts';
import type { CommandTraits, Run, RunningCommand } from '../invocation/invocation.ts';
import { examplesText, type NounOutline, type Outline, outlineName } from './define.ts';
import { tooMany, unknownCommand, unknownOption } from './meant-command.ts';

/** A command of Commander that throws UsageErrors for parsing errors. Only the program has the subcommand `help`. */
export class PetstockCommand extends Command {
  declare parent: PetstockCommand | null;
  outlines: readonly Outline[] = [];
  /** The words of the command line; only set for the program. */
  typed: readonly string[] = [];
  /** The outline by which the parent added this command; undefined for the program. */
  outline: Outline | undefined;
  /** Adds the parts of the command that its outline leaves out; undefined if there is nothing to add. */
  define: (() => Promise<void>) | undefined;
  traits: CommandTraits = {};
  /** The error of the first invalid option value; undefined if there is none. */
  invalid: unknown;
  /** The names of the program's options that were added to this command. */
  readonly shared = new Set<string>();
  /** The subcommand that the command line names, once Commander has reached it. */
  chosen: PetstockCommand | undefined;

  get program(): PetstockCommand {
    return this.parent?.program ?? this;
  }

  /** The words of the command, such as `['inventory', 'set']`; empty for the program. */
  get names(): readonly string[] {
    return this.parent === null ? [] : [...this.parent.names, this.name()];
  }

  override createCommand(name?: string): PetstockCommand {
    const command = new PetstockCommand(name);
    command.helpCommand(false);
    return command;
  }

  /**
   * Parses all options before it throws, because they determine how an error is shown.
   * @throws UsageError for an invalid value, or if a value is missing
   */
  override parseOptions(argv: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(argv);
    if (this.invalid !== undefined) throw this.invalid;
    if (this.outline !== undefined && 'load' in this.outline) this.#requireValues(argv);
    return parsed;
  }

  /**
   * Refuses an option where the value of another option is expected. If `$R` is empty, `--reason $R --dry-run` would
   * otherwise write, with `--dry-run` as the reason.
   * @throws UsageError if an option has an option as its value
   */
  #requireValues(argv: readonly string[]): void {
    for (let at = 0; at < argv.length && argv[at] !== '--'; at += 1) {
      const option = this.options.find(({ long, short }) => argv[at] === long || argv[at] === short);
      if (option?.required !== true) continue;
      at += 1;
      const [value = ''] = argv[at]?.split('=', 1) ?? [];
      if (value !== '--help' && !this.options.some(({ long }) => long === value)) continue;
      throw this.#lacksValue(
        option.flags,
        `, but "${value}" is an option. To use it as a value, write ${option.long}=…`,
      );
    }
  }

  override error(message: string, { code }: ErrorOptions = {}): never {
    // Commander gives the wrong word only in its message, in single quotes.
    const word = message.slice(message.indexOf("'") + 1, message.lastIndexOf("'"));
    switch (code) {
      case 'commander.unknownCommand':
        throw unknownCommand(this, word);
      case 'commander.unknownOption': {
        // The value may be a key, so only the option is shown.
        const [flag = ''] = word.split('=', 1);
        const isKnown = this.options.some(({ long }) => long === flag);
        throw isKnown ? this.#wrong(`Option "${flag}" does not take a value`) : unknownOption(this, flag);
      }
      case 'commander.missingArgument': {
        const operand = this.registeredArguments.find((argument) => argument.name() === word);
        throw this.#wrong(`The ${word} is missing: ${operand?.description}`);
      }
      case 'commander.optionMissingArgument':
        throw this.#lacksValue(word);
      case 'commander.excessArguments':
        throw tooMany(this, this.args[this.registeredArguments.length] ?? '');
      default:
        throw this.#wrong(capitalized(message.replace(/^error: /, '')));
    }
  }

  #lacksValue(flags: string, rest = ''): UsageError {
    return this.#wrong(`Option "${flags}" needs a value${rest}`);
  }

  #wrong(message: string): UsageError {
    return new UsageError(message, { hint: `${commandPath(this)} --help` });
  }
}

/** Returns the words of a command, such as `petstock inventory set`. */
export function commandPath(command: Command): string {
  const parents = command.parent ? `${commandPath(command.parent)} ` : '';
  return parents + command.name();
}

/**
 * Adds commands by their outlines. Each is completed when Commander reaches it, so that the program only loads the file
 * of the command that runs.
 */
export function addCommands(parent: PetstockCommand, added: readonly Outline[], run: Run): void {
  parent.outlines = added;
  for (const outline of added) {
    const command = parent
      .command(outlineName(outline))
      .summary(outline.summary)
      .helpGroup(outline.group ?? '');
    command.outline = outline;
    command.define = async () => {
      if ('load' in outline) (await outline.load())(command, run);
      else defineNoun(command, outline, run);
    };
  }
  parent.hook('preSubcommand', (_parent, command) => {
    parent.chosen = command as PetstockCommand;
    return loadDefinition(command);
  });
}

/** Adds the parts of a command that its outline leaves out, unless they were already added. */
export async function loadDefinition(command: Command): Promise<void> {
  if (!(command instanceof PetstockCommand)) return;
  const { define } = command;
  command.define = undefined;
  await define?.();
  if (define === undefined) return;
  addSharedOptions(command);
  command.addHelpText('after', '\nGlobal options: petstock help options');
}

/** Adds the program's options, so that they may follow the name of the command. Its help does not list them. */
function addSharedOptions(command: PetstockCommand): void {
  // A command's own option takes precedence over one with the same name: `api --header`.
  const own = new Set(command.options.map((option) => option.attributeName()));
  for (const option of command.program.options.filter((each) => !own.has(each.attributeName()))) {
    const { flags, long } = option;
    if (long === '--version') command.version(command.program.version() ?? '', flags);
    else command.addOption(new Option(flags));
    command.options.at(-1)?.hideHelp();
    command.shared.add(option.attributeName());
  }
}

/** Returns the program and the subcommands that Commander has reached on the command line. */
function chosenPath(program: PetstockCommand): readonly PetstockCommand[] {
  return program.chosen === undefined ? [program] : [program, ...chosenPath(program.chosen)];
}

/** Returns the name of the command that runs, such as `inventory set`, and its traits, which override its noun's. */
export function runningCommand(program: PetstockCommand): RunningCommand {
  const [, ...path] = chosenPath(program);
  const traits: CommandTraits = Object.assign({}, ...path.map((command) => command.traits));
  const name = path.map((command) => command.name()).join(' ');
  return { ...traits, name };
}

/**
 * Returns the shared options as typed, wherever they are on the command line. If an option is repeated, the last value
 * counts.
 */
export function typedSharedOptions(program: PetstockCommand): FlagValues {
  const given = chosenPath(program).flatMap((command) => {
    const names = command === program ? Object.keys(command.opts()) : [...command.shared];
    return names
      .filter((name) => command.getOptionValueSource(name) === 'cli')
      .map((name) => [name, command.getOptionValue(name)]);
  });
  return Object.fromEntries(given);
}

/** Returns the options of a command without the shared ones. */
export function ownOptions<Options extends object>(command: PetstockCommand): Options {
  const own = Object.entries(command.opts()).filter(([name]) => !command.shared.has(name));
  return Object.fromEntries(own) as Options;
}

/** Returns a command's line in the help of its parent; unlike Commander's own, it only needs the outline. */
export function subcommandTerm(command: Command): string {
  return (command instanceof PetstockCommand ? command.outline?.usage : undefined) ?? command.name();
}

function defineNoun(noun: PetstockCommand, outline: NounOutline, run: Run): void {
  const { description, examples, traits, commands } = outline;
  noun.traits = { ...traits };
  noun.description(description).enablePositionalOptions();
  if (examples !== undefined) noun.addHelpText('after', examplesText(examples));
  addCommands(noun, commands, run);
}
