import type { Argument, Command } from 'commander';
import { commandPath, finish, PetstockCommand } from '../../src/cli/commands/command.ts';
import { topicNames, topics } from '../../src/cli/commands/help.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { HelpPart } from '../../src/output/help-text.ts';

/** Returns the program and every command of it, nouns included, each before those below it. */
export async function allCommands(): Promise<readonly [program: Command, ...Command[]]> {
  const run = () => async () => {
    throw new Error('no command is run to describe it');
  };
  // Wider than any text, so that nothing is wrapped.
  return withBelow(createProgram({ writeOut: () => {}, width: 10_000, run }));
}

async function withBelow(command: Command): Promise<readonly [Command, ...Command[]]> {
  await finish(command);
  const below = await Promise.all(command.commands.map(withBelow));
  return [command, ...below.flat()];
}

/** `inventory list`; '' for the program. */
export function pathOf(command: Command): string {
  return commandPath(command).slice('petstock '.length);
}

/** The ways to call a command: `petstock inventory get [options] <petId...>`; none for a noun, which does nothing by itself. */
export function usagesOf(command: Command): readonly string[] {
  const isNoun = command instanceof PetstockCommand && command.outline !== undefined && 'commands' in command.outline;
  return isNoun ? [] : command.createHelp().commandUsage(command).split(/\n\s*/);
}

/** Returns all that the help of a command has below the usage. */
export function partsOf(command: Command): readonly HelpPart[] {
  return [...textParts(command.description()), ...termsOf(command), ...notesOf(command)];
}

/** Returns what a command takes, without `--help`, which every one has. */
export function termsOf(command: Command): readonly HelpPart[] {
  const options = command.createHelp().visibleOptions(command);
  const own = options.filter(({ long }) => long !== '--help' || command.parent === null);
  const terms = [
    ...command.registeredArguments.map((operand) => [termOf(operand), operand.description]),
    ...own.map(({ flags, description }) => [flags, description]),
  ];
  return terms.length === 0 ? [] : [{ terms: Object.fromEntries(terms) }];
}

/** An operand as usage shows it: `<petId...>`. */
export function termOf(operand: Argument): string {
  const name = operand.name() + (operand.variadic ? '...' : '');
  return operand.required ? `<${name}>` : `[${name}]`;
}

/** Returns what the help of a command has below the options, examples among it. A document need not say where else there is help. */
export function notesOf(command: Command): readonly HelpPart[] {
  const shown: string[] = [];
  command.configureOutput({ writeOut: (text) => shown.push(text) });
  command.outputHelp();
  const notes = textParts(shown.join('').slice(command.helpInformation().length).trim());
  return notes.filter((part) => typeof part !== 'string' || !/^(Global options|Help topics)\b/.test(part));
}

/** The topics of help. The options of the program are no text: each document has them in a form of its own. */
export function topicParts(): readonly { readonly name: string; readonly title: string; parts: readonly HelpPart[] }[] {
  return topicNames.flatMap((name) => {
    if (name === 'options') return [];
    const [title, ...parts] = topics[name];
    return [{ name, title: String(title), parts }];
  });
}

/** Cuts a text of help where its lines are blank, or begin or end to be indented, into paragraphs and lines that stay as they are. */
export function textParts(text: string): readonly HelpPart[] {
  const blocks = text.match(/(?:^ .*\n?)+|(?:^[^ \n].*\n?)+/gm) ?? [];
  return blocks.map((block) => {
    const lines = block.trimEnd().split('\n');
    return block.startsWith(' ') ? { lines: withoutIndent(lines) } : lines.join(' ');
  });
}

export function withoutIndent(lines: readonly string[]): readonly string[] {
  const least = Math.min(...lines.map((line) => line.search(/\S|$/)));
  return lines.map((line) => line.slice(least));
}
