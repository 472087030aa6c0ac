import { Command, Option, type ParseOptionsResult } from 'commander';
import type { Environment } from '../../settings/variables.ts';
import { nearest } from '../../shared/did-you-mean.ts';
import { UsageError } from '../../shared/errors.ts';
import { petstock } from '../../shared/hint.ts';
import { environmentNames } from '../../shared/target.ts';
import type { TypedOptions } from '../invocation/globals.ts';
import type { CommandTraits, Run, RunningCommand } from '../invocation/invocation.ts';
import { type Define, type Example, examplesText } from './define.ts';
import { lineWith, meantLine, otherName } from './meant-line.ts';
import { swallowedOption } from './swallowed-option.ts';

export interface VerbOutline {
  /** The name and the operands, as shown in the help of the parent: `set <petId> <quantity>`. */
  readonly usage: string;
  readonly summary: string;
  load(): Promise<Define>;
  /** The heading of the command in the program's help. */
  readonly group?: string | undefined;
}

export interface NounOutline {
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly examples?: readonly Example[];
  /** Applies to all of its subcommands. */
  readonly facts?: CommandTraits;
  readonly commands: readonly Outline[];
  readonly group?: string | undefined;
}

export type Outline = VerbOutline | NounOutline;

export function outlineName({ usage }: Outline): string {
  return usage.replace(/ .*/, '');
}

/** Commander's command with UsageErrors for parsing errors. Only the program has `help` as a subcommand. */
export class PetstockCommand extends Command {
  outlines: readonly Outline[] = [];
  /** The words of the command line; only set for the program. */
  typed: readonly string[] = [];
  /** The line in the parent's help; undefined for the program. */
  outline: Outline | undefined;
  /** Adds what the outline leaves out; undefined after that. */
  define: (() => Promise<void>) | undefined;
  facts: CommandTraits = {};
  /** The error of the first invalid value. */
  invalid: unknown;
  /** The names of the options that all commands share. */
  readonly shared = new Set<string>();
  /** The subcommand that the command line names, once Commander has reached it. */
  chosen: PetstockCommand | undefined;

  override createCommand(name?: string): PetstockCommand {
    const command = new PetstockCommand(name);
    command.helpCommand(false);
    return command;
  }

  /** @throws UsageError, once petstock knows how to show it */
  override parseOptions(argv: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(argv);
    if (this.invalid !== undefined) throw this.invalid;
    const isVerb = this.outline !== undefined && 'load' in this.outline;
    const found = isVerb ? swallowedOption(argv, this.options) : undefined;
    if (found === undefined) return parsed;
    const { option, swallowed } = found;
    return this.error(
      `option '${option.flags}' argument missing: '${swallowed}' is an option (to use it as a value, write ${option.long}=…)`,
    );
  }

  override error(message: string): never {
    // The value of an unknown option may be a key, so only the option is shown. Commander uses single quotes.
    const safe = message.replace(/^error: /, '').replace(/^(unknown option '--?[^=']+)=.*'/s, "$1'");
    const problem = safe.replaceAll("'", '"');
    const [, kind, word = ''] = /^unknown (command|option) "([^"]*)"$/.exec(problem) ?? [];
    if (kind === 'option' && optionsOf(this).includes(word)) {
      throw new UsageError(`Option "${word}" does not take a value`, { hint: `${commandPath(this)} --help` });
    }
    const [, missing] = /^missing required argument "([^"]*)"$/.exec(problem) ?? [];
    const operand = this.registeredArguments.find((argument) => argument.name() === missing);
    if (operand !== undefined) {
      const message = `The ${operand.name()} is missing: ${operand.description}`;
      throw new UsageError(message, { hint: `${commandPath(this)} --help` });
    }
    if (/^too many arguments /.test(problem)) throw tooMany(this);
    const sentence = problem.charAt(0).toUpperCase() + problem.slice(1);
    if (kind === 'command') throw unknownCommand(this, sentence, word);
    const meant = kind === 'option' ? meantOption(this, word) : undefined;
    const suggestion = meant === undefined ? '' : ` (Did you mean ${meant}?)`;
    const line = meant && lineWith(typedWords(this), word, meant);
    throw new UsageError(`${sentence}${suggestion}`, {
      hint: line ? petstock`${line}` : `${commandPath(this)} --help`,
    });
  }
}

function optionsOf({ options }: Command): readonly string[] {
  return options.flatMap(({ long }) => long ?? []);
}

/**
 * Returns the option that was probably meant. `--production` is the equivalent of `--env production` in other programs.
 */
function meantOption(command: Command, flag: string): string | undefined {
  const name = flag.replace(/^--?/, '');
  const names = optionsOf(command).map((long) => long.slice(2));
  const near = nearest(name, names);
  if (near !== undefined) return `--${near}`;
  const environment = name.length < 4 ? undefined : environmentNames.find((known) => known.startsWith(name));
  return environment && `--env ${environment}`;
}

function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}

function typedWords(command: Command): readonly string[] {
  const program = programOf(command);
  return program instanceof PetstockCommand ? program.typed : [];
}

/** Returns the words after the name of a command, with the options before it moved behind them. */
function restBehind(parent: Command, word: string): readonly string[] {
  const typed = typedWords(parent);
  const at = typed.indexOf(word);
  const names = commandPath(parent).split(' ');
  return [...typed.slice(at + 1), ...typed.slice(0, at).filter((before) => !names.includes(before))];
}

/** The hint is the typed line with the probable command. */
function unknownCommand(parent: Command, sentence: string, word: string): UsageError {
  const rest = restBehind(parent, word);
  const other = otherName(word, rest);
  if (other !== undefined) return new UsageError(sentence, { hint: petstock`${other}` });
  const meant = meantCommand(parent, word);
  const suggestion = meant === undefined ? '' : ` (Did you mean ${meant.join(' ')}?)`;
  const isWhole = meant !== undefined && !lacksOperand(parent, meant, rest);
  const line = isWhole ? meantLine(meant.slice(1), rest) : undefined;
  const hint = line === undefined ? `${meant?.join(' ') ?? commandPath(parent)} --help` : petstock`${line}`;
  return new UsageError(`${sentence}${suggestion}`, { hint });
}

/** Handles words after a command that takes none, or fewer. */
function tooMany(command: Command): UsageError {
  const path = commandPath(command);
  const count = command.registeredArguments.length;
  const word = command.args[count] ?? '';
  const names = path.split(' ').slice(1);
  const meant = meantLine(names, restBehind(command.parent ?? command, command.name()));
  const isMended = meant !== undefined && names.join(' ') === 'inventory list';
  const hint = isMended ? petstock`${meant}` : `${path} --help`;
  return new UsageError(`Unexpected word "${word}": ${path} does not take it`, { hint });
}

/** Reports whether a command needs more words than were typed. */
function lacksOperand(parent: Command, [, ...names]: readonly string[], rest: readonly string[]): boolean {
  let found: Outline | undefined;
  let outlines: readonly Outline[] = outlinesOf(parent);
  for (const name of names) {
    found = outlines.find((outline) => outlineName(outline) === name);
    outlines = found && 'commands' in found ? found.commands : [];
  }
  const needed = outlines.length > 0 ? 1 : (found?.usage.match(/</g)?.length ?? 0);
  return rest.filter((word) => !/^-\D/.test(word)).length < needed;
}

function outlinesOf(command: Command): readonly Outline[] {
  const program = programOf(command);
  return program instanceof PetstockCommand ? program.outlines : [];
}

/** Returns the words of the command that was probably meant; undefined rather than a wrong guess. */
export function meantCommand(parent: Command, word: string): readonly string[] | undefined {
  const program = programOf(parent);
  const outlines = outlinesOf(parent);
  const isNamed = outlines.some((outline) => outlineName(outline) === word);
  if (parent !== program && isNamed) return ['petstock', word];
  const path = parent === program ? withVerb(outlines, word) : undefined;
  if (path !== undefined) return path;
  const names = parent.commands.map((command) => command.name());
  const near = nearest(word, names);
  return near === undefined ? undefined : [...commandPath(parent).split(' '), near];
}

/** Returns the first command that has this verb under a noun: `petstock inventory list` for `list`. */
function withVerb(outlines: readonly Outline[], verb: string): readonly string[] | undefined {
  const noun = outlines.find(
    (outline) => 'commands' in outline && outline.commands.some((child) => outlineName(child) === verb),
  );
  return noun && ['petstock', outlineName(noun), verb];
}

/** `petstock inventory set` */
export function commandPath(command: Command): string {
  const parents = command.parent ? `${commandPath(command.parent)} ` : '';
  return parents + command.name();
}

/**
 * Adds commands by their outlines. Each is completed when Commander reaches it, so that a start only loads the file of
 * the command that it runs.
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
    return finish(command);
  });
}

/** Adds what the outline of a command has left out. Does nothing for a complete command. */
export async function finish(command: Command): Promise<void> {
  if (!(command instanceof PetstockCommand)) return;
  const { define } = command;
  command.define = undefined;
  await define?.();
  if (define === undefined) return;
  addSharedOptions(command);
  command.addHelpText('after', '\nGlobal options: petstock help options');
}

/** Adds the program's options, which may follow any word, so that Commander parses each word once. */
function addSharedOptions(command: Command): void {
  let program = command;
  while (program.parent !== null) program = program.parent;
  // A command's own option takes precedence over one with the same name: `api --header`.
  const own = new Set(command.options.map((option) => option.attributeName()));
  for (const option of program.options.filter((each) => !own.has(each.attributeName()))) {
    const { flags, long } = option;
    if (long === '--version') command.version(program.version() ?? '', flags);
    else command.addOption(new Option(flags));
    command.options.at(-1)?.hideHelp();
    if (command instanceof PetstockCommand) command.shared.add(option.attributeName());
  }
}

/** Returns the program and the subcommands that Commander has reached on the command line. */
function chosenPath(program: PetstockCommand): readonly PetstockCommand[] {
  return program.chosen === undefined ? [program] : [program, ...chosenPath(program.chosen)];
}

/** Returns the command that runs, or the last one that the command line names. */
export function runningCommand(program: PetstockCommand, env: Environment): RunningCommand {
  const [, ...path] = chosenPath(program);
  const facts: CommandTraits = Object.assign({}, ...path.map((command) => command.facts));
  const name = path.map((command) => command.name()).join(' ');
  return { ...facts, name, logs: facts.logs?.(path.at(-1)?.opts() ?? {}, env) === true };
}

/** Returns the shared options as typed, wherever they are. The last one counts. */
export function typedSharedOptions(program: PetstockCommand): TypedOptions {
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
  const { description, examples, facts, commands } = outline;
  noun.facts = { ...facts };
  noun.description(description).enablePositionalOptions();
  if (examples !== undefined) noun.addHelpText('after', examplesText(examples));
  addCommands(noun, commands, run);
}
