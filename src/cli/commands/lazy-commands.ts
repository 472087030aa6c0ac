import type { Command } from 'commander';
import type { Run } from '../invocation/invocation.ts';
import { PetstockCommand } from './command.ts';
import { type NounOutline, type Outline, outlineName } from './outline.ts';

/**
 * Adds commands by their outlines. Each is finished when Commander comes to it, so that a start loads the file of the
 * command that it runs and no other.
 */
export function addCommands(parent: PetstockCommand, added: readonly Outline[], run: Run): void {
  for (const outline of added) {
    const command = parent.command(outlineName(outline)).summary(outline.summary);
    command.outline = outline;
    command.define = async () => {
      if ('load' in outline) (await outline.load())(command, run);
      else defineNoun(command, outline, run);
    };
  }
  parent.hook('preSubcommand', (_parent, command) => finish(command));
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
