import { topicNames } from '../../src/cli/commands/help/help.ts';
import { topics } from '../../src/cli/commands/help/topics.ts';
import type { HelpPart } from '../../src/output/help-text.ts';
import { type CommandFacts, commandFacts } from './command-facts.ts';
import { type TextBlock, textBlocks } from './text-blocks.ts';

/** All that there is to say of the program, in the order of a document. */
export interface Reference {
  readonly program: CommandFacts;
  /** Every command that has a page of help, nouns included, each before those below it. */
  readonly commands: readonly CommandFacts[];
  readonly topics: readonly Topic[];
}

export interface Topic {
  /** `exit-codes` */
  readonly name: string;
  readonly title: string;
  readonly parts: readonly HelpPart[];
}

/** The commands as they are, with the topics of help. */
export async function makeReference(): Promise<Reference> {
  const program = await commandFacts();
  return { program, commands: program.commands.flatMap(withBelow), topics: topicNames.flatMap(topicOf) };
}

function withBelow(command: CommandFacts): readonly CommandFacts[] {
  return [command, ...command.commands.flatMap(withBelow)];
}

/** The options of the program are no text: each document has them in a form of its own. */
function topicOf(name: (typeof topicNames)[number]): readonly Topic[] {
  if (name === 'options') return [];
  const [title, ...parts] = topics[name];
  return [{ name, title: typeof title === 'string' ? title : name, parts }];
}

/** What stands below the options in the help of a command. A document need not say where else there is help. */
export function noteBlocks({ notes }: CommandFacts): readonly TextBlock[] {
  return textBlocks(notes).filter((block) => !('text' in block && /^(Global options|Help topics)\b/.test(block.text)));
}

/** Without `--help`, which every command has. */
export function ownOptions({ options }: CommandFacts): CommandFacts['options'] {
  return options.filter(({ flags }) => !flags.includes('--help'));
}
