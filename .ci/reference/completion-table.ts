import type { Command, Option } from 'commander';
import { rowFields } from '../../src/change-files/field-names.ts';
import { changeFileEndings, changeFormats } from '../../src/change-files/read-rows.ts';
import { methods } from '../../src/cli/commands/api.ts';
import { topicNames } from '../../src/cli/commands/help.ts';
import { rowResults } from '../../src/cli/commands/history/show-runs.ts';
import { plans } from '../../src/cli/commands/sandbox/sandbox-options.ts';
import type { TableCommand, TableOption, ValueKind, Word } from '../../src/cli/completion/command-table.ts';
import { shellNames } from '../../src/cli/completion/command-table.ts';
import { petStatuses } from '../../src/inventory/items.ts';
import { runStates } from '../../src/inventory/run-records.ts';
import { sortKeys } from '../../src/inventory/sort.ts';
import { runFields } from '../../src/output/history-list-view.ts';
import { rowFields as rowFieldsOfRun } from '../../src/output/history-run-view.ts';
import { namedFields } from '../../src/output/inventory-view.ts';
import { definitionOf, environmentNames, remoteEnvironmentNames, settingNames } from '../../src/settings/settings.ts';
import { allCommands, pathOf, termOf } from './reference.ts';

/** The table for completion, of the commands as they are. @throws Error for a value that `byPlace` and `byPlaceholder` do not know */
export async function completionTable(): Promise<TableCommand> {
  return tableCommand((await allCommands())[0]);
}

function tableCommand(command: Command): TableCommand {
  const path = pathOf(command);
  const options = command.createHelp().visibleOptions(command);
  return {
    name: command.parent === null ? '' : command.name(),
    about: command.summary(),
    options: options.map((option) => tableOption(path, option)),
    operands: command.registeredArguments.map((operand) => ({
      value: valueKindOf(path, [operand.name()], termOf(operand)),
      ...(operand.variadic && { isVariadic: true }),
    })),
    commands: command.commands.map(tableCommand),
  };
}

function tableOption(path: string, { flags, short, long, variadic, parseArg, description }: Option): TableOption {
  const names = [short, long].filter((flag) => flag !== undefined);
  const [placeholder] = /[<[].*$/.exec(flags) ?? [];
  return {
    flags: names,
    // A list of completions has room for little.
    about: description.replace(/ \(.*$|[;:] .*$/s, ''),
    ...(placeholder !== undefined && { value: valueKindOf(path, names, placeholder) }),
    ...(variadic && { isVariadic: true }),
    ...((variadic || parseArg !== undefined) && { isRepeatable: true }),
  };
}

/** A page (`html`) is of some commands alone, which is no reason to hide it. */
const outputs = [...definitionOf('output').values.split('|'), 'html'];

/** Of files that hold a list. */
const listEndings = ['.csv', '.json', '.ndjson', '.jsonl'];

const free: ValueKind = { kind: 'free' };

/** Values by the name that stands for them in the help. */
const byPlaceholder: Readonly<Record<string, ValueKind>> = {
  run: { kind: 'runs' },
  petId: { kind: 'pets' },
  'id,…': { kind: 'pets', isList: true },
  session: { kind: 'sessions' },
  file: files(),
  left: { kind: 'files', endings: listEndings, or: 'places' },
  right: { kind: 'files', endings: listEndings, or: 'places' },
  path: files(),
  method: words(methods),
  shell: words(shellNames),
  plan: words(plans),
  words: { kind: 'command', topics: named(topicNames, 'a help topic') },
};

/** What only the person at the keyboard knows. */
const freePlaceholders: ReadonlySet<string> = new Set([
  ...['f,…', 'bar code', 'd', 'n', 's', 'name', 'text', 'header', 'seconds', 'date', 'url', 'command', 'json'],
  ...['address', 'cidr', 'origin', 'spec', 'cursor', 'role', 'token', 'value', 'quantity', 'delta', 'id'],
]);

/** Those of one option or operand, of one command or of all that have it. They go before those by placeholder. */
const byPlace: Readonly<Record<string, ValueKind>> = {
  '--env': words(environmentNames),
  '--store': { kind: 'stores' },
  '--output': words(outputs),
  '--color': words(['auto', 'always', 'never']),
  '--status': words(petStatuses, 'list'),
  '--ids': words(['large', 'small']),
  'inventory list --sort': words(sortKeys),
  'inventory list --fields': words(namedFields, 'list'),
  'inventory apply file': files(changeFileEndings),
  'inventory apply --format': words(changeFormats),
  'inventory apply --column': words(rowFields.map((field) => `${field}=`)),
  'inventory apply --resume': { kind: 'incomplete-runs' },
  'inventory diff --only': words(['quantity', 'status']),
  'inventory count --codes': files(['.csv']),
  'inventory count --to': files(['.csv']),
  'history list --state': words(runStates),
  'history list --pet': { kind: 'pets' },
  'history list --pets': words(['all']),
  'history list --fields': words(runFields, 'list'),
  'history show --state': words(rowResults, 'list'),
  'history show --fields': words(rowFieldsOfRun, 'list'),
  'config set name': { kind: 'words', words: settingWords() },
  'config set value': settingValues(),
  'config get name': { kind: 'words', words: [...settingWords(), ...remoteWords('url'), ...remoteWords('key')] },
  'config unset name': { kind: 'words', words: [...settingWords(), ...remoteWords('url')] },
  'sandbox serve --import': files(['.csv', '.json']),
  'sandbox import file': files(['.csv', '.json']),
  'sandbox export --format': words(['csv', 'json']),
};

/**
 * Returns what may stand for an option or operand of a command.
 * @param names the flags of an option, or the name of an operand
 * @param placeholder what stands for the value in the help: `<file>`
 * @throws Error if this file does not know it
 */
function valueKindOf(path: string, names: readonly string[], placeholder: string): ValueKind {
  const bare = placeholder.replace(/^[<[]|(\.\.\.)?[>\]]$/g, '');
  const own = names.map((name) => byPlace[`${path} ${name}`] ?? byPlace[name]).find((kind) => kind !== undefined);
  const kind = own ?? (freePlaceholders.has(bare) ? free : byPlaceholder[bare]);
  if (kind !== undefined) return kind;
  const value = `petstock ${path} ${names.join()} ${placeholder}`;
  throw new Error(`${value}: say in .ci/reference/completion-table.ts what it stands for`);
}

function words(names: readonly string[], list?: 'list'): ValueKind {
  return { kind: 'words', words: named(names, ''), ...(list !== undefined && { isList: true }) };
}

function named(names: readonly string[], about: string): readonly Word[] {
  return names.map((name) => [name, about]);
}

function files(endings: readonly string[] = []): ValueKind {
  return { kind: 'files', endings };
}

function settingWords(): readonly Word[] {
  return settingNames.map((name) => [name, definitionOf(name).meaning]);
}

function remoteWords(what: 'url' | 'key'): readonly Word[] {
  return remoteEnvironmentNames.map((name) => [`${what}.${name}`, `the ${what} of ${name}`]);
}

function settingValues(): ValueKind {
  const values = settingNames.map((name): [string, ValueKind] => {
    const { values: typed } = definitionOf(name);
    if (typed === '<store>') return [name, { kind: 'stores' }];
    if (typed === '<file>') return [name, files()];
    return [name, typed.startsWith('<') ? free : words(typed.split('|'))];
  });
  return { kind: 'by-operand', values: Object.fromEntries(values) };
}
