import type { Command, Option } from 'commander';
import { rowFields } from '../../src/change-files/field-names.ts';
import { changeFileEndings, changeFormats } from '../../src/change-files/read-rows.ts';
import { methods } from '../../src/cli/commands/api.ts';
import { commandPath } from '../../src/cli/commands/command.ts';
import { topicNames } from '../../src/cli/commands/help.ts';
import { rowResults } from '../../src/cli/commands/history/show-runs.ts';
import { plans } from '../../src/cli/commands/sandbox/sandbox-options.ts';
import type { TableCommand, TableOption, ValueKind, Word } from '../../src/cli/completion/command-table.ts';
import { shellNames } from '../../src/cli/completion/command-table.ts';
import { comparedFields, fieldNames, fieldOf, shownFields, textFields } from '../../src/inventory/item-fields.ts';
import { runStates } from '../../src/inventory/run-records.ts';
import { runFields } from '../../src/output/history-list-view.ts';
import { rowFields as rowFieldsOfRun } from '../../src/output/history-run-view.ts';
import { definitionOf, remoteEnvironmentNames, settingNames } from '../../src/settings/settings.ts';
import { environmentNames } from '../../src/shared/target.ts';
import { allCommands } from './reference.ts';

/** Returns the table for completion, made from the commands themselves. */
export async function completionTable(): Promise<TableCommand> {
  return tableCommand((await allCommands())[0]);
}

function tableCommand(command: Command): TableCommand {
  const path = commandPath(command);
  return {
    name: command.parent === null ? '' : command.name(),
    about: command.summary(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => tableOption(path, option)),
    operands: command.registeredArguments.map((operand) => ({
      value: valueKindOf(path, operand.name()),
      ...(operand.variadic && { isVariadic: true }),
    })),
    commands: command.commands.map(tableCommand),
  };
}

function tableOption(path: string, { flags, short, long, variadic, parseArg, description }: Option): TableOption {
  const [, placeholder] = /<(.*?)(?:\.\.\.)?>/.exec(flags) ?? [];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    // A list of completions has little space, so only the first phrase of a description is kept.
    about: description.replace(/ \(.*$|[;:] .*$/s, ''),
    ...(placeholder !== undefined && { value: valueKindOf(path, long ?? '', placeholder) }),
    ...(variadic && { isVariadic: true }),
    ...((variadic || parseArg !== undefined) && { isRepeatable: true }),
  };
}

function valueKindOf(path: string, name: string, placeholder = name): ValueKind {
  return byName[`${path} ${name}`.slice('petstock '.length)] ?? byName[name] ?? byPlaceholder[placeholder] ?? words([]);
}

function words(names: readonly string[], isList?: 'list'): ValueKind {
  return { kind: 'words', words: names.map((name) => [name, '']), ...(isList !== undefined && { isList: true }) };
}

function files(...endings: readonly string[]): ValueKind {
  return { kind: 'files', endings };
}

/** The kinds of values by placeholder. Values that are neither here nor in `byName` have no candidates. */
const byPlaceholder: Readonly<Record<string, ValueKind>> = {
  run: { kind: 'runs' },
  petId: { kind: 'pets' },
  'id,…': { kind: 'pets', isList: true },
  store: { kind: 'stores' },
  file: files(),
  path: files(),
};

const ofSettings = settingNames.map((name): Word => [name, definitionOf(name).meaning]);
const ofRemotes = (what: 'url' | 'key') =>
  remoteEnvironmentNames.map((name): Word => [`${what}.${name}`, `the ${what} of ${name}`]);
const bySetting = settingNames.map((name): readonly [string, ValueKind] => {
  const { values } = definitionOf(name);
  return [name, values.startsWith('<') ? (byPlaceholder[values.slice(1, -1)] ?? words([])) : words(values.split('|'))];
});
const targetsAndLists: ValueKind = { kind: 'files', endings: ['.csv', '.json', '.ndjson', '.jsonl'], or: 'targets' };

/** The kinds of values by command and option, by command and operand, or by an option of any command. */
const byName: Readonly<Record<string, ValueKind>> = {
  '--env': words(environmentNames),
  '--store': { kind: 'stores' },
  // `html` is offered for every command, though only some commands accept it.
  '--output': words([...definitionOf('output').values.split('|'), 'html']),
  '--color': words(['auto', 'always', 'never']),
  ...Object.fromEntries(textFields.map((name) => [`--${name}`, words(fieldOf(name).filter?.values ?? [], 'list')])),
  '--ids': words(['large', 'small']),
  '--plan': words(plans),
  'api method': words(methods),
  'completion shell': words(shellNames),
  'help words': { kind: 'command', topics: topicNames.map((name) => [name, 'a help topic']) },
  'inventory list --sort': words(fieldNames),
  'inventory list --fields': words(shownFields, 'list'),
  'inventory apply file': files(...changeFileEndings),
  'inventory apply --format': words(changeFormats),
  'inventory apply --column': words(rowFields.map((field) => `${field}=`)),
  'inventory apply --resume': { kind: 'incomplete-runs' },
  'inventory diff --only': words(comparedFields),
  'inventory diff left': targetsAndLists,
  'inventory diff right': targetsAndLists,
  'inventory count file': files('.txt', '.csv'),
  'inventory count --codes': files('.csv'),
  'inventory count --to': files('.csv'),
  'history list --state': words(runStates),
  'history list --pet': { kind: 'pets' },
  'history list --pets': words(['all']),
  'history list --fields': words(runFields, 'list'),
  'history show --state': words(rowResults, 'list'),
  'history show --fields': words(rowFieldsOfRun, 'list'),
  'config set name': { kind: 'words', words: ofSettings },
  'config set value': { kind: 'by-operand', values: Object.fromEntries(bySetting) },
  'config get name': { kind: 'words', words: [...ofSettings, ...ofRemotes('url'), ...ofRemotes('key')] },
  'config unset name': { kind: 'words', words: [...ofSettings, ...ofRemotes('url')] },
  'sandbox serve --import': files('.csv', '.json'),
  'sandbox import file': files('.csv', '.json'),
};
