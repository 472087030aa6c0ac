import type { Argument, Command } from 'commander';
import { commandPath, loadDefinition } from '../../src/cli/commands/command.ts';
import { topics } from '../../src/cli/commands/help.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { HelpPart } from '../../src/output/help-text.ts';

/**
 * Returns the help texts from which the documents are made. A title stands above its parts; the `depth` of a command is
 * the number of its words.
 */
export async function reference() {
  const [program, ...commands] = await allCommands();
  return {
    description: program.description(),
    globalOptions: ['Before or after the command.', ...termsOf(program)],
    commands: commands.map((command) => {
      const title = commandPath(command);
      const usage = { lines: command.createHelp().commandUsage(command).split(/\n\s*/) };
      const parts = [usage, ...textParts(command.description()), ...termsOf(command), ...notesOf(command)];
      return { title, depth: title.split(' ').length, summary: command.summary(), parts };
    }),
    // The topic `options` contains the global options.
    topics: Object.entries<readonly HelpPart[]>(topics).map(([name, [title, ...parts]]) => {
      return { name, title: String(title), depth: 2, parts };
    }),
  };
}

/** Returns the program and all its commands, including nouns. Each command stands before its subcommands. */
export async function allCommands(): Promise<readonly [program: Command, ...Command[]]> {
  const run = () => async () => {
    throw new Error('no command is run to describe it');
  };
  return withBelow(createProgram({ writeOut: () => {}, width: Number.MAX_SAFE_INTEGER, hasColor: () => false, run }));
}

async function withBelow(command: Command): Promise<readonly [Command, ...Command[]]> {
  await loadDefinition(command);
  const below = await Promise.all(command.commands.map(withBelow));
  return [command, ...below.flat()];
}

/** Returns the operands and options of a command, without `--help`, which every command has. */
function termsOf(command: Command): readonly HelpPart[] {
  const options = command.createHelp().visibleOptions(command);
  const own = options.filter(({ long }) => long !== '--help' || command.parent === null);
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
 * Returns what the help of a command shows below its options, such as examples, without the reference to the global
 * options.
 */
function notesOf(command: Command): readonly HelpPart[] {
  const shown: string[] = [];
  command.configureOutput({ writeOut: (text) => shown.push(text) }).outputHelp();
  const notes = textParts(shown.join('').slice(command.helpInformation().length).trim());
  return notes.filter((part) => typeof part !== 'string' || !/^Global options\b/.test(part));
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
