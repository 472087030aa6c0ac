import type { Command } from 'commander';
import { UsageError } from '../../../shared/errors.ts';
import { finish } from '../lazy-commands.ts';
import { topicNames } from './topic-names.ts';

/** Help reads no configuration, so it is there when that is broken too. */
export function defineHelp(help: Command, writeOut: (text: string) => void): void {
  help
    .argument('[words...]', `a command, or ${topicNames.join(', ')}`)
    .description(`Shows help for a command, or for one of the topics ${topicNames.join(', ')}.`)
    .action(async (words: readonly string[]) => {
      const topic = topicNames.find((name) => words.length === 1 && name === words[0]);
      if (topic === undefined) return (await find(help, words)).outputHelp();
      const { topics } = await import('./topics.ts');
      writeOut(topics[topic]);
    });
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
