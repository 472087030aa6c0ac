import { type Command, CommanderError, Help } from 'commander';
import { bold } from '../output/terminal.ts';
import { padEnd } from '../output/text-width.ts';
import { sharedOptions } from '../settings/shared-options.ts';
import { version } from '../shared/version.ts';
import { addCommands, PetstockCommand, subcommandTerm } from './commands/command.ts';
import { commandOutlines, helpOutline } from './commands/index.ts';
import type { Run } from './invocation/invocation.ts';

export interface ProgramOptions {
  /** Receives the text of help and version. */
  writeOut(text: string): void;
  /** Characters per line. */
  readonly width: number;
  /** Reports whether help is shown in colour. Call this after the options were parsed. */
  hasColor(): boolean;
  readonly run: Run;
}

/** Creates the tree of commands from their outlines. Each run creates its own, so that no run affects the next. */
export function createProgram({ writeOut, width, hasColor, run }: ProgramOptions): PetstockCommand {
  const program: PetstockCommand = new PetstockCommand('petstock')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut,
      writeErr: writeOut,
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: hasColor,
      getErrHasColors: hasColor,
    })
    .showSuggestionAfterError(false)
    .configureHelp({
      sortSubcommands: false,
      subcommandTerm,
      styleTitle: bold,
      formatHelp(command, help): string {
        return command === program ? rootHelp(program, help) : Help.prototype.formatHelp.call(help, command, help);
      },
    })
    .description('Manage the stock of a pet store from the command line.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help');
  for (const { flags, about } of Object.values(sharedOptions)) program.option(flags, about);
  addCommands(program, [...commandOutlines, helpOutline({ writeOut, width })], run);
  return program;
}

/**
 * Runs the command that the command line names. Ignores the error that Commander throws after `--help`, `--version`, or
 * a noun without a verb.
 */
export async function parse(program: PetstockCommand, argv: readonly string[]): Promise<void> {
  program.typed = argv;
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
}

/** Returns the program's help: its commands by group, on one screen. The options have a help topic of their own. */
function rootHelp(program: Command, help: Help): string {
  const commands = program.commands.filter((command) => command.helpGroup() !== '');
  const termWidth = Math.max(...commands.map((command) => command.name().length));
  const groups = help.groupItems(commands, commands, (command) => command.helpGroup());
  const lines = [...groups].flatMap(([title, members]) => [
    help.styleTitle(`${title}:`),
    ...members.map((command) => `  ${padEnd(command.name(), termWidth)}  ${command.summary()}`),
  ]);
  return `${[
    program.description(),
    '',
    `${help.styleTitle('Usage:')} petstock <command> [options]`,
    '',
    ...lines,
    '',
    'Try it, without a key or an address:  petstock --env sandbox inventory list',
    'Options:  -e/--env, -s/--store, -o/--output, --json, -y/--yes, -q/--quiet, -v/--verbose',
    'More:  petstock <command> --help,  petstock help options|output|exit-codes|files',
  ].join('\n')}\n`;
}
