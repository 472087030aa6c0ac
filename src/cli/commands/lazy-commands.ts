import type { Command } from 'commander';
import type { Run } from '../invocation/invocation.ts';

/** Adds to a command what only its own help and its run need: operands, description, options, examples, action. */
export type Define = (command: Command, run: Run) => void;

/** What the help of its parent shows of a command, and where the rest of it is. */
export interface VerbOutline {
  /** Its name and its operands, as the help of its parent shows them: `set <petId> <quantity>`. */
  readonly usage: string;
  readonly summary: string;
  /** Imports the file of the command. Called once the command is chosen. */
  load(): Promise<Define>;
}

/** A noun and its commands. */
export interface NounOutline {
  /** Its name. */
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  /** Shown under its help. */
  readonly examples?: string;
  readonly commands: readonly Outline[];
}

export type Outline = VerbOutline | NounOutline;

const outlines = new WeakMap<Command, Outline>();
/** Of each command that is no more than its outline so far: what finishes it. */
const unfinished = new WeakMap<Command, () => Promise<void>>();

/**
 * Adds commands by their outlines. Each is finished when Commander comes to it, so that a start loads the file of the
 * command that it runs and no other.
 */
export function addCommands(parent: Command, added: readonly Outline[], run: Run): void {
  for (const outline of added) {
    const command = parent.command(outlineName(outline)).summary(outline.summary);
    outlines.set(command, outline);
    unfinished.set(command, async () => {
      if ('load' in outline) (await outline.load())(command, run);
      else defineNoun(command, outline, run);
    });
  }
  parent.hook('preSubcommand', (_parent, command) => finish(command));
}

/** Gives a command what its outline has left out. One that is finished stays as it is. */
export async function finish(command: Command): Promise<void> {
  const load = unfinished.get(command);
  unfinished.delete(command);
  await load?.();
}

/** A command in the help of its parent: unlike Commander's own term, it needs no more than the outline. */
export function subcommandTerm(command: Command): string {
  return outlines.get(command)?.usage ?? command.name();
}

/** The first noun that has this verb: `inventory` for `list`. */
export function nounWith(program: Command, verb: string): Command | undefined {
  return program.commands.find((noun) => {
    const outline = outlines.get(noun);
    return outline && 'commands' in outline && outline.commands.some((child) => outlineName(child) === verb);
  });
}

function outlineName({ usage }: Outline): string {
  return usage.replace(/ .*/, '');
}

function defineNoun(noun: Command, { description, examples, commands }: NounOutline, run: Run): void {
  noun.description(description);
  if (examples !== undefined) noun.addHelpText('after', examples);
  addCommands(noun, commands, run);
}
