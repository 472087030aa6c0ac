import { Command, type HelpContext } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import { type Outline, outlineName } from './outline.ts';
import { collect } from './values.ts';

/**
 * Commander's command with two habits of ours: what it can't parse is a UsageError like any other, and `help` is a
 * command of the program alone.
 */
export class PetstockCommand extends Command {
  /** Called where the program was asked for nothing, before that is answered with help. */
  beforeHelp: () => void = () => {};
  /** What the help of its parent shows of it; undefined for the program. */
  outline: Outline | undefined;
  /** Gives it what its outline leaves out; undefined once that is done. */
  define: (() => Promise<void>) | undefined;

  override help(context?: HelpContext | ((text: string) => string)): never {
    this.beforeHelp();
    return super.help(context as HelpContext | undefined);
  }

  override createCommand(name?: string): PetstockCommand {
    const command = new PetstockCommand(name);
    command.helpCommand(false);
    return command;
  }

  override error(message: string): never {
    // The value of an option that is unknown may be a key: only the option is named. Commander's quotes are single ones.
    const safe = message.replace(/^error: /, '').replace(/^(unknown option '--?[^=']+)=.*'/s, "$1'");
    const [fault = '', ...suggestions] = safe.replaceAll("'", '"').split('\n');
    const given = /^unknown option "(--[^"]+)"$/.exec(fault)?.[1];
    if (given !== undefined && isFlagOf(this, given)) {
      throw new UsageError(`Option "${given}" takes no value`, { hint: `${commandPath(this)} --help` });
    }
    const sentence = fault.charAt(0).toUpperCase() + fault.slice(1);
    const verb = /^unknown command "([a-z-]+)"$/.exec(fault)?.[1];
    const meant = this.parent === null && verb !== undefined ? withVerb(this, verb) : undefined;
    if (meant !== undefined) throw new UsageError(`${sentence} (Did you mean ${meant}?)`, { hint: `${meant} --help` });
    throw new UsageError([sentence, ...suggestions].join(' '), { hint: `${commandPath(this)} --help` });
  }
}

/** Whether a command or one above it has the flag: unknown is only that it was given a value, as in `--json=true`. */
function isFlagOf({ options, parent }: Command, name: string): boolean {
  return options.some(({ long }) => long === name) || (parent !== null && isFlagOf(parent, name));
}

/** The first command that has this verb under a noun: `petstock inventory list` for `list`. */
function withVerb(program: Command, verb: string): string | undefined {
  const noun = program.commands.find((command) => {
    const outline = command instanceof PetstockCommand ? command.outline : undefined;
    return outline && 'commands' in outline && outline.commands.some((child) => outlineName(child) === verb);
  });
  return noun && `petstock ${noun.name()} ${verb}`;
}

/** `petstock inventory set` */
export function commandPath(command: Command): string {
  const parents = command.parent ? `${commandPath(command.parent)} ` : '';
  return parents + command.name();
}

/** An option of every command that prints a list: `results.print` applies it. */
export const fieldsOption = ['--fields <f,…>', 'only these columns, in this order', collect] as const;

/** The examples under a command's help. Each is a command line and, where it needs one, what it does above it. */
export function examples(lines: readonly (readonly [command: string, does?: string])[]): string {
  const shown = lines.map(([command, does]) => (does === undefined ? `  ${command}` : `  # ${does}\n  ${command}`));
  return ['', 'Examples:', ...shown].join('\n');
}
