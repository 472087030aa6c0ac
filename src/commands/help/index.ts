import type { Command } from 'commander';
import { UsageError } from '../../errors.ts';
import { topicNames } from './topic-names.ts';

/** Help reads no configuration, so it is there when that is broken too. */
export function registerHelp(program: Command, writeOut: (text: string) => void): void {
  program
    .command('help')
    .argument('[words...]', `a command, or ${topicNames.join(', ')}`)
    .summary('show help for a command or a topic')
    .description(`Shows help for a command, or for one of the topics ${topicNames.join(', ')}.`)
    .action(async (words: readonly string[]) => {
      const topic = topicNames.find((name) => words.length === 1 && name === words[0]);
      if (topic === undefined) return find(program, words).outputHelp();
      const { topics } = await import('./topics.ts');
      writeOut(topics[topic]);
    });
}

function find(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (child) return child;
    throw new UsageError(`There is no help for "${words.join(' ')}"; the topics are ${topicNames.join(', ')}`, {
      hint: 'petstock --help',
    });
  }, program);
}
