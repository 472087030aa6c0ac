import type { Column, Scalar } from '../../../output/view.ts';
import { type ConfigFile, configFile, configOf } from '../../../settings/config-file.ts';
import { maskKey } from '../../../settings/key-and-url.ts';
import { describeShadows, resolveBaseUrl, resolveKey } from '../../../settings/resolve.ts';
import { definitionOf, resolveSetting, type SettingValue, settingNames } from '../../../settings/settings.ts';
import type { Environment, Sourced } from '../../../settings/variables.ts';
import { maskDatabaseUrl } from '../../../shared/database-url.ts';
import { FailureError, UsageError } from '../../../shared/errors.ts';
import { whereOptions } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, fieldsOption } from '../command.ts';
import { type EntryName, entryName, entryNames, environmentOf, isSetting, keyNames, urlNames } from './entry-names.ts';

/** A row of `config list`. Keys and passwords are masked already. */
interface Entry {
  /** In a named store with its name: `north/url.staging`. */
  readonly name: string;
  /** null: not set, and there is no default. */
  readonly value: Scalar;
  readonly source: string;
}

const columns: readonly Column[] = [
  { field: 'name', title: 'Name' },
  { field: 'value', title: 'Value', whole: true },
  { field: 'source', title: 'Source' },
];

interface EntryRef {
  /** Undefined: the store without a name; its settings are those of all. */
  readonly store: string | undefined;
  readonly name: EntryName;
}

export const defineList = define({
  description:
    'Shows each setting, URL and key, of all stores unless --store names one, and where it comes from: an environment ' +
    'variable, the configuration file or the default. Of a key, only the last 4 characters are shown. An environment variable that hides a stored key or URL is ' +
    'named on stderr.',
  options: [fieldsOption],
  examples: [['petstock config list'], ["petstock config list --json | jq -r '.[] | select(.value == null).name'"]],
  action: listEntries,
});

async function listEntries(invocation: Invocation): Promise<void> {
  const { context, configFile, globals, store } = invocation;
  const shown =
    globals.store === undefined ? listed(configFile) : entryNames.map((name) => ({ store: store?.value, name }));
  const warnings = [...new Set(shown.map((entry) => entry.store))].flatMap((name) =>
    describeShadows(context.env, configOf(configFile, name)),
  );
  const rows = shown.map((ref) => {
    try {
      return { ...readEntry(ref, context.env, configFile) };
    } catch (error) {
      // A variable that can't be used is worth a warning here, and no reason to hide the other values.
      if (!(error instanceof UsageError)) throw error;
      warnings.push(error.message);
      return { name: fullName(ref), value: null, source: 'cannot be used' };
    }
  });
  for (const warning of new Set(warnings)) await invocation.messages.warn(warning);
  await invocation.results.print({ columns, rows: [rows], shape: 'list', isFacts: true });
}

/** Returns the names of the store without a name, then those that are set for each other. */
function listed(file: ConfigFile): EntryRef[] {
  const named = Object.entries(file.stores).flatMap(([store, { settings }]) => {
    const own = settingNames.filter((name) => settings[name] !== undefined);
    return [...own, ...urlNames, ...keyNames].map((name) => ({ store, name }));
  });
  return [...entryNames.map((name) => ({ store: undefined, name })), ...named];
}

/**
 * Returns the value in effect and where it comes from.
 * @throws UsageError if an environment variable holds a value that can't be used
 */
function readEntry(ref: EntryRef, env: Environment, file: ConfigFile): Entry {
  const name = fullName(ref);
  const found = valueInEffect(ref, env, file);
  return found === undefined ? { name, value: null, source: 'not set' } : { name, ...found };
}

function valueInEffect({ store, name }: EntryRef, env: Environment, file: ConfigFile): Sourced<Scalar> | undefined {
  const config = configOf(file, store);
  if (isSetting(name)) {
    const found = resolveSetting(name, env, config.settings);
    return found && { value: shownSetting(name, found.value), source: found.source };
  }
  const environment = environmentOf(name);
  if (name.startsWith('url.')) return resolveBaseUrl(environment, env, config);
  const key = resolveKey(environment, env, config);
  // Nothing is run to show a key that a command prints.
  return key && { value: 'command' in key ? key.command.command : maskKey(key.value), source: key.source };
}

/** Returns a setting as it is shown: without a password, numbers of a unit with it. */
export function shownSetting(name: Parameters<typeof definitionOf>[0], value: SettingValue): Scalar {
  const { isSecret, show } = definitionOf(name);
  return isSecret ? maskDatabaseUrl(String(value)) : (show?.(value) ?? value);
}

function fullName({ store, name }: EntryRef): string {
  return store === undefined ? name : `${store}/${name}`;
}

export const defineGet = define({
  operands: { '<name>': 'a setting, url.<env> or key.<env>' },
  description:
    'Prints the value in effect: from the environment, the configuration file, or the default. Not set: exit 1.',
  before: `\nNames: ${entryNames.join(', ')};\n\`url\` and \`key\` alone are those of the chosen environment. Of a key, only the last 4 characters are shown.\n`,
  examples: [
    ['petstock config get default-env'],
    ['petstock config get url --env production'],
    ['petstock config get low-stock --json', 'name, value and source as JSON'],
  ],
  action: (invocation, _options, name) => printEntry(invocation, name),
});

async function printEntry(invocation: Invocation, text: string): Promise<void> {
  const { context, configFile, environment, store, results } = invocation;
  const ref = { store: store?.value, name: entryName(text, environment.value) };
  const entry = readEntry(ref, context.env, configFile);
  if (results.wantsJson) {
    await results.print({ columns, rows: [[{ ...entry }]], shape: 'one' });
  } else if (entry.value !== null) {
    await results.write(`${entry.value}\n`);
  }
  if (entry.value === null) throw notSet(ref);
}

function notSet(ref: EntryRef): FailureError {
  const { store, name } = ref;
  const hint = isSetting(name)
    ? `petstock config set ${name}${definitionOf(name).isSecret ? '' : " '<value>'"}`
    : `petstock config ${name.startsWith('url.') ? "set-url 'https://<your-store>/v1'" : 'set-key'} ${whereOptions({ store, env: environmentOf(name) })}`;
  return new FailureError(`${fullName(ref)} is not set`, { hint });
}

export const definePath = define({
  description: 'Prints the path of the configuration file, which need not exist yet. PETSTOCK_CONFIG_DIR moves it.',
  examples: [['petstock config path'], ['ls -l "$(petstock config path)"']],
  action: async ({ context, results }) => {
    const path = configFile(context.folders.config);
    if (!results.wantsJson) return results.write(`${path}\n`);
    await results.print({ columns: [{ field: 'path', title: 'Path' }], rows: [[{ path }]], shape: 'one' });
  },
});
