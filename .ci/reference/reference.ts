import { stripVTControlCharacters } from 'node:util';
import type { Argument, Command as Commander } from 'commander';
import { type Command, commandsBelow } from '../../src/cli/commands/command.ts';
import { notesOf, topics } from '../../src/cli/commands/help.ts';
import { root } from '../../src/cli/commands/root.ts';
import { commanderOf } from '../../src/cli/program.ts';
import type { HelpPart } from '../../src/output/help-text.ts';

/**
 * Returns the help texts from which the documents are made. A title stands above its parts; the `depth` of a command is
 * the number of its words.
 */
export async function reference() {
  const [, ...commands] = await allCommands();
  return {
    description: root.description,
    globalOptions: ['Before or after the command.', ...termsOf(commanderOf([], root))],
    commands: commands.map(described),
    // The topic `options` contains the global options.
    topics: Object.entries<readonly HelpPart[]>(topics).map(([name, [title, ...parts]]) => {
      return { name, title: String(title), depth: 2, parts };
    }),
  };
}

interface NamedCommand {
  readonly names: readonly string[];
  /** The words of the command, such as `petstock inventory set`. */
  readonly path: string;
  readonly command: Command;
}

/** Returns the program and all its commands, including nouns. Each command stands before its subcommands. */
export async function allCommands(names: readonly string[] = [], command = root): Promise<readonly NamedCommand[]> {
  const below = await Promise.all(
    (await commandsBelow(command)).map((each) => allCommands([...names, each.name], each.command)),
  );
  return [{ names, path: ['petstock', ...names].join(' '), command }, ...below.flat()];
}

function described({ names, path, command }: NamedCommand) {
  const commander = commanderOf(names, command);
  if (command.commands !== undefined) commander.command('any');
  const usage = { lines: commander.createHelp().commandUsage(commander).split(/\n\s*/) };
  const parts = [
    usage,
    ...textParts(command.description),
    ...termsOf(commander),
    ...textParts(stripVTControlCharacters(notesOf(command)).trim()),
  ];
  return { title: path, depth: names.length + 1, summary: command.summary, parts };
}

/** Returns the operands and options of a command, without `--help`, which every command has. */
function termsOf(command: Commander): readonly HelpPart[] {
  const options = command.createHelp().visibleOptions(command);
  const own = options.filter(({ long }) => long !== '--help' || command.name() === 'petstock');
  const terms = [
    ...command.registeredArguments.map((operand) => [termOf(operand), operand.description]),
    ...own.map(({ flags, description }) => [flags, description]),
  ];
  return terms.length === 0 ? [] : [{ terms: Object.fromEntries(terms) }];
}

/** Returns an operand as usage shows it: `<petId...>`. */
function termOf(operand: Argument): string {
  const name = operand.name() + (operand.variadic ? '...' : '');
  return operand.required ? `<${name}>` : `[${name}]`;
}

/**
 * Splits a help text at blank lines, and where its indentation begins or ends, into paragraphs and indented lines,
 * which stay as they are.
 */
function textParts(text: string): readonly HelpPart[] {
  const blocks = text.match(/(?:^ .*\n?)+|(?:^[^ \n].*\n?)+/gm) ?? [];
  return blocks.map((block) => {
    const lines = block.trimEnd().split('\n');
    const indent = Math.min(...lines.map((line) => line.search(/\S/)));
    return indent === 0 ? lines.join(' ') : { lines: lines.map((line) => line.slice(indent)) };
  });
}
