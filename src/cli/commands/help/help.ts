import type { Command } from 'commander';
import type { HelpPart } from '../../../output/help-text.ts';
import { UsageError } from '../../../shared/errors.ts';
import { finish } from '../command.ts';

export const topicNames = ['exit-codes', 'environment', 'output', 'files', 'options'] as const;

export interface HelpOptions {
  writeOut(text: string): void;
  /** Characters that fit on a line. */
  readonly width: number;
}

/** Help reads no configuration, so it is there when that is broken too. */
export function defineHelp(help: Command, { writeOut, width }: HelpOptions): void {
  help
    .argument('[words...]', `a command, or ${topicNames.join(', ')}`)
    .description(`Shows help for a command, or for one of the topics ${topicNames.join(', ')}.`)
    .action(async (words: readonly string[]) => {
      const topic = topicNames.find((name) => words.length === 1 && name === words[0]);
      if (topic === undefined) return (await find(help, words)).outputHelp();
      const [{ topics }, { helpText }] = await Promise.all([
        import('./topics.ts'),
        import('../../../output/help-text.ts'),
      ]);
      writeOut(helpText(topic === 'options' ? globalOptions(help) : topics[topic], width));
    });
}

function globalOptions(help: Command): readonly HelpPart[] {
  const options = help.parent?.options ?? [];
  return [
    'Global options, before or after the command',
    { terms: Object.fromEntries(options.map(({ flags, description }) => [flags, description])) },
  ];
}

async function find(help: Command, words: readonly string[]): Promise<Command> {
  let found = help.parent ?? help;
  for (const word of words) {
    const child = found.commands.find((candidate) => candidate.name() === word);
    if (child === undefined) {
      throw new UsageError(`There is no help for "${words.join(' ')}"; the topics are ${topicNames.join(', ')}`, {
        hint: 'petstock --help',
      });
    }
    await finish(child);
    found = child;
  }
  return found;
}
