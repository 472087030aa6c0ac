import { type Command, CommanderError, Help } from 'commander';
import { bold } from '../output/terminal.ts';
import { padEnd } from '../output/text-width.ts';
import { version } from '../shared/version.ts';
import { addCommands, PetstockCommand, subcommandTerm } from './commands/command.ts';
import { commandOutlines, helpOutline } from './commands/index.ts';
import type { Run } from './invocation/invocation.ts';

export interface ProgramOptions {
  /** Takes the text of help and version. */
  writeOut(text: string): void;
  /** Characters that fit on a line. */
  readonly width: number;
  /** Reports whether help is shown in colour. Called once the options are read. */
  hasColor(): boolean;
  readonly run: Run;
}

/** The tree of commands, as far as their outlines go. Made for every run, so nothing of one run is left in the next. */
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
    .helpOption('-h, --help', 'show help')
    .option('-e, --env <name>', 'staging, production or sandbox (default: staging)')
    .option('-s, --store <name>', 'one of several stores, each with its own addresses and keys')
    .option('-o, --output <format>', 'table, json, ndjson, csv or tsv (default: table on a terminal, else tsv)')
    .option('--json', 'the same as -o json')
    .option('--raw', 'leave text in csv as it is, even if a spreadsheet would take it for a formula')
    .option('--string-ids', 'pet ids as strings in JSON, for readers that keep 53 bits (jq 1.6, JavaScript)')
    .option('--header', 'print a header line (also in tsv)')
    .option('--no-header', 'without a header line, in table and csv too')
    .option('--no-pager', 'show long tables without a pager')
    .option('-y, --yes', 'answer every confirmation with yes')
    .option('-q, --quiet', 'show nothing but warnings and errors on stderr')
    .option('--debug', 'show each request and answer on stderr')
    // A flag of its own: Commander would take the next word for an optional value.
    .option('--debug=json', 'the same as lines of JSON with times')
    .option('--retries <n>', 'of a read or an absolute write after a network fault, 500, 502, 503 or 504 (default: 4)')
    .option('--color <when>', 'auto, always or never')
    .option('--timeout <seconds>', 'for one request (default: 30)')
    .option(
      '--max-wait <seconds>',
      'maximum wait for the rate limit, in total (default: 90); bulk runs: per wait (90), unless this is given',
    );
  addCommands(program, [...commandOutlines, helpOutline({ writeOut, width })], run);
  return program;
}

/** Commander ends `--help`, `--version` and a noun without a verb with an error, though nothing failed. */
export async function parse(program: PetstockCommand, argv: readonly string[]): Promise<void> {
  program.typed = argv;
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
}

/** The help of the program fits on one screen: its commands by groups. Its options are a topic of their own. */
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
    'Options:  -e/--env, -s/--store, -o/--output, --json, -y/--yes, -q/--quiet, -V',
    'More:  petstock <command> --help,  petstock help options|output|exit-codes|files',
  ].join('\n')}\n`;
}
