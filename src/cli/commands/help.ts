import { stripVTControlCharacters } from 'node:util';
import { type HelpPart, helpText, wrapLong } from '../../output/help-text.ts';
import { bold } from '../../output/terminal.ts';
import { padEnd } from '../../output/text-width.ts';
import { optionVariables } from '../../settings/shared-options.ts';
import { UsageError } from '../../shared/errors.ts';
import { petstock } from '../../shared/hint.ts';
import { commanderOf } from '../program.ts';
import { type Command, commandNamed, commandsBelow } from './command.ts';
import { meantCommand } from './meant-command.ts';
import { root, topicNames } from './root.ts';

/**
 * Returns the help of a command or a topic.
 * @throws UsageError if there is none
 */
export async function helpOf(
  words: readonly string[],
  { width, hasColor }: { readonly width: number; readonly hasColor: boolean },
): Promise<string> {
  const topic = topicNames.find((name) => words.length === 1 && name === words[0]);
  if (topic !== undefined) return helpText(topic === 'options' ? optionParts() : topics[topic], width);
  const command = await find(words);
  const text = words.length === 0 ? await rootHelp() : await commandHelp(words, command, width);
  return wrapLong(hasColor ? text : stripVTControlCharacters(text), width);
}

async function find(words: readonly string[]): Promise<Command> {
  let found = root;
  for (const [index, word] of words.entries()) {
    const below = await commandNamed(word, found.commands);
    if (below === undefined) {
      const meant = await meantCommand(words.slice(0, index), word);
      throw new UsageError(`There is no help for "${words.join(' ')}". The topics are ${topicNames.join(', ')}`, {
        hint: petstock`${meant ?? []} --help`,
      });
    }
    found = below;
  }
  return found;
}

/** Returns the program's help: its commands by group, on one screen. The options have a help topic of their own. */
async function rootHelp(): Promise<string> {
  const below = (await commandsBelow(root)).filter(({ command }) => command.group !== undefined);
  const termWidth = Math.max(...below.map(({ name }) => name.length));
  const groups = [...new Set(below.map(({ command }) => command.group))];
  const lines = groups.flatMap((group) => [
    bold(`${group}:`),
    ...below.flatMap(({ name, command }) =>
      command.group === group ? [`  ${padEnd(name, termWidth)}  ${command.summary}`] : [],
    ),
  ]);
  return `${[
    root.description,
    '',
    `${bold('Usage:')} petstock <command> [options]`,
    '',
    ...lines,
    '',
    'Try it, without a key or an address:  petstock --env sandbox inventory list',
    'Options:  -e/--env, -s/--store, -o/--output, --json, -y/--yes, -q/--quiet, -v/--verbose',
    'More:  petstock <command> --help,  petstock help options|output|exit-codes|files',
  ].join('\n')}\n`;
}

/** Returns the help of a command: Commander's, and notes and examples below it. */
async function commandHelp(names: readonly string[], command: Command, width: number): Promise<string> {
  const commander = commanderOf(names, command)
    .configureHelp({ styleTitle: bold })
    .configureOutput({ getOutHelpWidth: () => width, getOutHasColors: () => true });
  for (const { name, command: each } of await commandsBelow(command)) {
    const term = [name, ...Object.keys(each.operands ?? {})].join(' ');
    commander.command(term).helpCommand(false).summary(each.summary);
  }
  const notes = notesOf(command);
  return `${commander.helpInformation()}${notes}${notes === '' ? '' : '\n'}\nGlobal options: petstock help options\n`;
}

/** Returns what help shows below the options of a command, such as examples. */
export function notesOf({ before = '', examples = [], after = '' }: Command): string {
  const shown = examples.map(([line, does]) => (does === undefined ? `  ${line}` : `  # ${does}\n  ${line}`));
  return [before, ...(shown.length === 0 ? [] : [`\n${[bold('Examples:'), ...shown].join('\n')}`]), after].join('');
}

function optionParts(): readonly HelpPart[] {
  const variables = new Map(optionVariables().map(([source, flags]) => [flags, ` [${source}]`]));
  const terms = Object.fromEntries(
    commanderOf([], root).options.map(({ flags, description }) => [
      flags,
      `${description}${variables.get(flags) ?? ''}`,
    ]),
  );
  return [
    'Global options, before or after the command',
    { terms },
    'The variable in brackets applies if the option is not given. If the brackets show only a name, the variable takes the same value as the option, or true or false if the option takes none. ' +
      'No variable answers a question for you: use --yes.',
  ];
}

/** The texts of `help <topic>`. The topic `options` is generated from the program's options. */
export const topics = {
  'exit-codes': [
    'Exit codes',
    {
      indent: 0,
      terms: {
        '  0  ok': '',
        '  1  failure': 'an invalid response, a full disk, a bug, or a value that `config get` does not find',
        '  2  usage': 'arguments, settings, an invalid file, a confirmation that was refused or is missing',
        '  3  changes':
          'with --exit-code: a dry run or a comparison found changes; with `inventory watch --first`: --for ended without a change',
        '  4  auth': 'no key, or the service did not accept it (401)',
        '  5  unavailable': 'network, time-out, or 5xx after all retries',
        '  6  rate-limited': "the wait would be longer than --max-wait, the day's quota is spent, or the key is banned",
        '  7  conflict':
          'the stock is not the expected one, a run of the same file is unfinished, or the run or pet is ' +
          'in use by another command (nothing was written)',
        '  8  partial':
          'only some rows were written, it is not known whether some were written (unknown), or the service wrote another ' +
          'quantity than requested (differs). Also for single writes',
        '  9  not-found': '404, or no such pet, run or bar code',
        ' 10  rejected': '400, or another 4xx',
        '130  interrupted': 'Ctrl-C',
        '143  interrupted': 'SIGTERM',
        '129  interrupted': 'SIGHUP: the terminal was closed',
      },
    },
    'Errors are two lines on stderr: "Error: …" and, if there is something you can do, "Hint: petstock …". With --json an ' +
      'error is one JSON object on the last line of stderr:',
    {
      lines: [
        '  {"error":{"code":"not_found","kind":"not-found",',
        '    "message":"…","status":404,"exitCode":9,"hint":"…"}}',
      ],
    },
    'stdout then stays empty, except for a report (of a run, `petstock status` or `petstock state check`) and for the ' +
      'pets that were found. A long list that breaks off has no closing bracket.',
    '"Nothing was written" appears only if that is certain. "No change has reached the stock so far" means that an ' +
      'unanswered request may still be carried out. After exit code 8, `petstock history show <run>` shows the ' +
      'result of each row, and `petstock inventory apply --resume <run>` checks the unknown ones again.',
  ],
  environment: [
    'Environments, keys and variables',
    {
      terms: {
        environment: '--env, PETSTOCK_ENV, the setting default-env, staging',
        store: '--store, PETSTOCK_STORE, the setting default-store, the one without a name (--store default)',
        key:
          'PETSTOCK_API_KEY_STAGING or _PRODUCTION, PETSTOCK_API_KEY, the stored key command, the stored key (petstock ' +
          'config set-key)',
        address: 'PETSTOCK_URL_STAGING or _PRODUCTION, the stored one (petstock config set-url). There is no default',
        'shared state': 'PETSTOCK_STATE_URL ("none": this machine\'s own state), the setting state-url',
        folders: "PETSTOCK_CONFIG_DIR and PETSTOCK_STATE_DIR, otherwise the platform's own (XDG on Linux)",
        proxy:
          'HTTPS_PROXY or HTTP_PROXY, ALL_PROXY, except for hosts in NO_PROXY and this machine (petstock status shows it)',
        authorities: "Node's own, and those in the files of NODE_EXTRA_CA_CERTS and the setting ca-file",
        pager:
          'PETSTOCK_PAGER, PAGER, less (with LESS=FRX); empty or cat: none. Only for tables that are longer than the terminal',
        "the sandbox's key": 'petstock sandbox serve --key, PETSTOCK_SANDBOX_KEY, the one in the state folder',
        colour:
          '--color, PETSTOCK_COLOR, FORCE_COLOR, NO_COLOR, CLICOLOR_FORCE, CLICOLOR=0, TERM=dumb, whether it is a terminal',
        'global options': `the option, otherwise its variable: ${[...new Set(optionVariables().map(([source]) => source.replace(/=.*/, '')))].join(', ')} (petstock help options)`,
      },
    },
    'The first one that is set applies. An address is https, or http on this machine (loopback), and ends in /v1.',
    'A stored key belongs to the origin it was stored for. It is not sent to another address (exit code 4) until it is ' +
      'stored again. A key from a variable is sent to any address that is set.',
    'A named store has only its own variables: PETSTOCK_NORTH_API_KEY_STAGING and PETSTOCK_NORTH_URL_STAGING ' +
      'for --store north. Settings made with --store take precedence over those of all stores.',
    '--env sandbox needs neither key nor address: it is a real service on this machine, started for one command.',
  ],
  output: [
    'Output',
    {
      terms: {
        '-o table':
          'for people; the default on a terminal. Low means: available, and at or below its level in the codes file, or else the setting low-stock',
        '-o tsv': 'the default otherwise: no header; tab, line end and backslash in a value are \\t \\n \\r \\\\',
        '-o csv':
          'with a header, quoted as in RFC 4180, lines end in LF; an apostrophe keeps a spreadsheet from running text as a formula, unless --raw',
        '-o json': 'one array or object; ids are numbers with every digit, so the parser must keep int64',
        '-o ndjson': 'one object per line',
        '-o html':
          'a page to print, without scripts; for inventory list and count --sheet, history list, show and totals',
        '--string-ids':
          'pet ids as strings in json and ndjson, for tools that round large numbers (jq 1.6, JavaScript)',
      },
    },
    '--header and --no-header apply to csv, tsv and table. --fields chooses the columns and may be repeated. stdout contains only the result; ' +
      'banner, rate limit, warnings, questions and errors go to stderr. --quiet leaves only warnings, questions and errors, ' +
      'and so does a stderr that is no terminal, unless --verbose is given: a nightly job that went well prints nothing. One line of a wait of more than 10 s is printed anyway.',
    'A command refuses a format that it does not support (exit code 2). PETSTOCK_OUTPUT (except html) and the setting output are only defaults: a command without that format ignores them. ' +
      'The format of an exported file follows its extension, unless -o is given.',
    'The result of a row:',
    {
      terms: {
        planned: 'it would be written',
        applied: 'it was written',
        unchanged: 'the stock already had this quantity',
        failed: 'the service refused it, or each attempt failed without writing it (then pending in the history)',
        conflict: 'the stock was not the expected one; not written, unless its error says that this is not known',
        notAttempted: 'it was not sent (pending in the history)',
        unknown: 'it is not known whether it was written',
        skipped: 'the service has no such pet (with --skip-unknown), or its delta was applied before (--skip-applied)',
        differs: 'the service wrote another quantity (the row shows it)',
      },
    },
  ],
  files: [
    'Files',
    'Configuration (petstock config path): settings, addresses and keys. Mode 0600, in a folder of mode 0700.',
    'State (petstock state info): in PETSTOCK_STATE_DIR, otherwise $XDG_STATE_HOME/petstock or ~/.local/state/petstock on Linux:',
    {
      terms: {
        'state.db':
          'one SQLite database with the rate limits of each key and the runs of this machine (petstock history list). ' +
          'While it is in use, state.db-wal and state.db-shm belong to it; never copy or remove one of them alone',
        locks: 'files that a process locks while it writes to a service or writes a run; never remove them meanwhile',
        written: 'a hash of each file that petstock wrote and replaces without asking as long as it is unchanged',
        'sandbox.db': 'the stock of the sandbox',
        'sandbox.key': 'the key of the sandbox',
        'sandbox-codes.csv': "the codes and names of the sandbox's pets",
      },
    },
    'The time before which nothing may be sent with a key is also in gates.ndjson, beside the state. While the state ' +
      "folder can't be used, that file is in petstock-<uid>, in the system's temporary folder (TMPDIR).",
    'Compiled code for a faster start is in $XDG_CACHE_HOME/petstock or ~/.cache/petstock on Linux; it may be removed ' +
      '(PETSTOCK_NO_CACHE=1 disables it). The licences of everything in petstock are in LICENSES.txt beside the program.',
    'All files have mode 0600. Only the configuration and sandbox.key contain keys; other files contain a hash. The ' +
      'state folder must be on a local disk, because locks do not work on a network file system.',
    {
      terms: {
        'petstock state check': 'checks the whole state',
        'petstock limits clear': 'removes the known limits of a key, including any time to wait',
        'petstock history export': 'writes the whole history as NDJSON, for grep and audits',
        'petstock history prune': 'removes old runs; a change takes 70 to 300 bytes',
      },
    },
    'Change files (petstock inventory apply): CSV or TSV (, ; tab or | between cells), JSON or NDJSON, in UTF-8.',
    {
      terms: {
        'petId (or id)': 'every digit counts; ="123" and \'123 are read as 123',
        'quantity (or qty)': 'the new stock; blank: no change, never 0',
        'delta (or adjust)': 'instead of quantity: what to add to the stock',
        expected: 'write only if the stock is this',
        'reason, ref': 'for the history',
        'status, name': 'for the reader, not written; any other column is an error, unless --ignore-columns is given',
      },
    },
    'Columns may be in any order; upper and lower case, spaces, _ and - make no difference. In a spreadsheet, save as ' +
      '"CSV UTF-8", and format ids as text first, or start with `petstock inventory export --spreadsheet`.',
  ],
} satisfies Readonly<Record<string, readonly HelpPart[]>>;
