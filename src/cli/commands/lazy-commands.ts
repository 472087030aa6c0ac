import type { Command } from 'commander';
import type { Run } from '../invocation/invocation.ts';
import { PetstockCommand } from './command.ts';
import { type NounOutline, type Outline, outlineName } from './outline.ts';

/**
 * Adds commands by their outlines. Each is finished when Commander comes to it, so that a start loads the file of the
 * command that it runs and no other.
 * @param argv makes only the command that it names, where that is certain; undefined: all
 */
export function addCommands(
  parent: PetstockCommand,
  added: readonly Outline[],
  run: Run,
  argv?: readonly string[],
): void {
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
  noun.description(description);
  if (examples !== undefined) noun.addHelpText('after', examples);
  addCommands(noun, commands, run);
}
