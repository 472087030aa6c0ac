import { Command, type Option, type ParseOptionsResult } from 'commander';
import { environmentNames } from '../../settings/settings.ts';
import { nearest } from '../../shared/did-you-mean.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Run } from '../invocation/invocation.ts';
import { type Define, type Example, examplesText } from './define.ts';

export interface VerbOutline {
  /** Its name and its operands, as the help of its parent shows them: `set <petId> <quantity>`. */
  readonly usage: string;
  readonly summary: string;
  load(): Promise<Define>;
}

export interface NounOutline {
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly examples?: readonly Example[];
  readonly commands: readonly Outline[];
}

export type Outline = VerbOutline | NounOutline;

export function outlineName({ usage }: Outline): string {
  return usage.replace(/ .*/, '');
}

/** Commander's command, but what it can't parse is a UsageError like any other, and `help` is a command of the program alone. */
export class PetstockCommand extends Command {
  outlines: readonly Outline[] = [];
  /** Its line in the help of its parent; undefined for the program. */
  outline: Outline | undefined;
  /** Gives it what its outline leaves out; undefined once that is done. */
  define: (() => Promise<void>) | undefined;

  override createCommand(name?: string): PetstockCommand {
    const command = new PetstockCommand(name);
    command.helpCommand(false);
    return command;
  }

  /** Its own options before those of the program, which else would take `-y` out of `--reason -yearly`, and agree to everything. */
  override parseOptions(argv: string[]): ParseOptionsResult {
    if (this.parent === null) return super.parseOptions(argv);
    let program: Command = this.parent;
    while (program.parent !== null) program = program.parent;
    const readShared = Command.prototype.parseOptions;
    // A noun that has none of its own: those of the program, up to the verb.
    const upToVerb: Command = Object.create(program, { commands: { value: this.commands } });
    if (this.commands.length > 0 && this.options.length === 0) return readShared.call(upToVerb, argv);
    let own: ParseOptionsResult;
    try {
      this.#requireValues(argv, [...this.options, ...program.options]);
      own = super.parseOptions(argv);
    } catch (error) {
      // The program's say how that is shown (`--json`).
      try {
        readShared.call(program, argv);
      } catch {}
      throw error;
    }
    const shared = readShared.call(program, own.unknown);
    // What the program takes for an option may be a negative number here.
    const rest = super.parseOptions(shared.unknown);
    return { operands: [...own.operands, ...shared.operands, ...rest.operands], unknown: rest.unknown };
  }

  /** Refuses a whole option in the place of a value: with `$R` empty, `--reason $R --dry-run` would write, and `--env=sandbox` behind it would be none. */
  #requireValues(argv: readonly string[], options: readonly Option[]): void {
    for (let at = 0; at < argv.length && argv[at] !== '--'; at += 1) {
      const option = options.find(({ long, short }) => argv[at] === long || argv[at] === short);
      if (option?.required !== true) continue;
      at += 1;
      const [name = ''] = argv[at]?.split('=', 1) ?? [];
      if (!options.some(({ long }) => long === name)) continue;
      this.error(
        `option '${option.flags}' argument missing: '${name}' is an option (${option.long}=… takes it as it is)`,
      );
    }
  }

  override error(message: string): never {
    // The value of an option that is unknown may be a key: only the option is named. Commander's quotes are single ones.
    const safe = message.replace(/^error: /, '').replace(/^(unknown option '--?[^=']+)=.*'/s, "$1'");
    const fault = safe.replaceAll("'", '"');
    const [, kind, word = ''] = /^unknown (command|option) "([^"]*)"$/.exec(fault) ?? [];
    if (kind === 'option' && optionsOf(this).includes(word)) {
      throw new UsageError(`Option "${word}" takes no value`, { hint: `${commandPath(this)} --help` });
    }
    const sentence = fault.charAt(0).toUpperCase() + fault.slice(1);
    const meant =
      kind === 'command' ? meantCommand(this, word) : kind === 'option' ? meantOption(this, word) : undefined;
    const help = kind === 'command' && meant !== undefined ? meant : commandPath(this);
    const suggestion = meant === undefined ? '' : ` (Did you mean ${meant}?)`;
    throw new UsageError(`${sentence}${suggestion}`, { hint: `${help} --help` });
  }
}

function optionsOf({ options, parent }: Command): readonly string[] {
  const own = options.flatMap(({ long }) => (long ? [long] : []));
  return parent === null ? own : [...own, ...optionsOf(parent)];
}

/** Returns the option that was probably meant. `--production` is what other programs have for `--env production`. */
function meantOption(command: Command, flag: string): string | undefined {
  const name = flag.replace(/^--?/, '');
  const names = optionsOf(command).map((long) => long.slice(2));
  const near = nearest(name, names);
  if (near !== undefined) return `--${near}`;
  const environment = name.length < 4 ? undefined : environmentNames.find((known) => known.startsWith(name));
  return environment && `--env ${environment}`;
}

/** Returns the command that was probably meant: nothing rather than a wrong guess. */
function meantCommand(parent: Command, word: string): string | undefined {
  const program = parent.parent ?? parent;
  if (Object.hasOwn(otherNames, word)) return `petstock ${otherNames[word]}`;
  const outlines = program instanceof PetstockCommand ? program.outlines : [];
  const isNamed = outlines.some((outline) => outlineName(outline) === word);
  if (parent !== program && isNamed) return `petstock ${word}`;
  const path = parent === program ? withVerb(outlines, word) : undefined;
  if (path !== undefined) return path;
  const names = parent.commands.map((command) => command.name());
  const near = nearest(word, names);
  return near && `${commandPath(parent)} ${near}`;
}

const otherNames: Readonly<Record<string, string>> = { ls: 'inventory list', low: 'inventory list --low' };

/** Returns the first command that has this verb under a noun: `petstock inventory list` for `list`. */
function withVerb(outlines: readonly Outline[], verb: string): string | undefined {
  const noun = outlines.find(
    (outline) => 'commands' in outline && outline.commands.some((child) => outlineName(child) === verb),
  );
  return noun && `petstock ${outlineName(noun)} ${verb}`;
}

/** `petstock inventory set` */
export function commandPath(command: Command): string {
  const parents = command.parent ? `${commandPath(command.parent)} ` : '';
  return parents + command.name();
}

/**
 * Adds commands by their outlines. Each is finished when Commander comes to it, so that a start loads the file of the
 * command that it runs and no other.
 * @param argv makes only the command that it names, if that is certain; undefined: all
 */
export function addCommands(parent: PetstockCommand, added: readonly Outline[], run: Run, argv?: readonly string[]) {
  parent.outlines = added;
  const named = argv && namedOutline(parent, argv);
  for (const outline of named === undefined ? added : [named]) {
    const command = parent.command(outlineName(outline)).summary(outline.summary);
    command.outline = outline;
    command.define = async () => {
      if ('load' in outline) (await outline.load())(command, run);
      else defineNoun(command, outline, run);
    };
  }
  parent.hook('preSubcommand', (_parent, command) => finish(command));
}

/** Returns the command that words name, behind options of the parent; undefined if it is unknown, or needs to know the others. */
function namedOutline({ options, outlines }: PetstockCommand, argv: readonly string[]): Outline | undefined {
  let at = 0;
  for (let word = argv[at]; word?.startsWith('-'); word = argv[at]) {
    const option = options.find(({ long, short }) => word === long || word === short);
    if (option === undefined) return undefined;
    at += option.required ? 2 : 1;
  }
  return outlines.find((outline) => outlineName(outline) === argv[at] && argv[at] !== 'help');
}

/** Gives a command what its outline has left out. One that is finished stays as it is. */
export async function finish(command: Command): Promise<void> {
  if (!(command instanceof PetstockCommand)) return;
  const { define } = command;
  command.define = undefined;
  await define?.();
  if (define !== undefined) command.addHelpText('after', '\nGlobal options: petstock help options');
}

/** A command in the help of its parent: unlike Commander's own term, it needs no more than the outline. */
export function subcommandTerm(command: Command): string {
  return (command instanceof PetstockCommand ? command.outline?.usage : undefined) ?? command.name();
}

function defineNoun(noun: PetstockCommand, { description, examples, commands }: NounOutline, run: Run): void {
  noun.description(description).enablePositionalOptions();
  if (examples !== undefined) noun.addHelpText('after', examplesText(examples));
  addCommands(noun, commands, run);
}
