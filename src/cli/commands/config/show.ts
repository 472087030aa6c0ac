import { recordView, type Scalar } from '../../../output/view.ts';
import { type ConfigFile, configFile, configOf } from '../../../settings/config-file.ts';
import { maskKey } from '../../../settings/key-and-url.ts';
import { describeShadows, resolveBaseUrl, resolveKey } from '../../../settings/resolve.ts';
import { definitionOf, resolveSetting, settingNames } from '../../../settings/settings.ts';
import type { Environment, Sourced } from '../../../settings/variables.ts';
import { FailureError, UsageError } from '../../../shared/errors.ts';
import { petstock, targetWords } from '../../../shared/hint.ts';
import { define, fieldsOption, suggesting } from '../command.ts';
import {
  columns,
  type EntryRef,
  entryName,
  entryNames,
  environmentOf,
  fullName,
  isSetting,
  keyNames,
  remoteWords,
  settingWords,
  shownSetting,
  urlNames,
} from './entries.ts';

export const listCommand = define({
  summary: 'show all settings and their sources',
  description:
    'Shows each setting, URL and key, and its source: an environment variable, the configuration file or the default. Shows ' +
    'all stores, unless --store is given. Only the last 4 characters of a key are shown. A warning names each environment variable ' +
    'that overrides a stored key or URL.',
  options: [fieldsOption],
  examples: [['petstock config list'], ["petstock config list --json | jq -r '.[] | select(.value == null).name'"]],
  run: async function* (invocation) {
    const { context, configFile, globals, store } = invocation;
    const shown =
      globals.store === undefined ? listed(configFile) : entryNames.map((name) => ({ store: store?.value, name }));
    const warnings = [...new Set(shown.map((entry) => entry.store))].flatMap((name) =>
      describeShadows(context.env, configOf(configFile, name)),
    );
    const rows = shown.map((ref) => {
      try {
        return readEntry(ref, context.env, configFile);
      } catch (error) {
        // An invalid variable only causes a warning here, so that the other values are still shown.
        if (!(error instanceof UsageError)) throw error;
        warnings.push(error.message);
        return { name: fullName(ref), value: null, source: 'cannot be used' };
      }
    });
    for (const warning of new Set(warnings)) await invocation.messages.warn(warning);
    yield { columns, rows: [rows], shape: 'list', isFacts: true };
  },
});

/**
 * Returns all entries of the store without a name, followed by those of each named store: its own settings, and all of
 * its URLs and keys.
 */
function listed(file: ConfigFile): EntryRef[] {
  const stores = Object.entries(file.stores).sort(([one], [other]) => one.localeCompare(other));
  const named = stores.flatMap(([store, { settings }]) => {
    const own = settingNames.filter((name) => settings[name] !== undefined);
    return [...own, ...urlNames, ...keyNames].map((name) => ({ store, name }));
  });
  return [...entryNames.map((name) => ({ store: undefined, name })), ...named];
}

/**
 * Returns a row of `config list`; keys and passwords are masked.
 * @throws UsageError for a variable that can't be used
 */
function readEntry(ref: EntryRef, env: Environment, file: ConfigFile) {
  return { name: fullName(ref), ...(valueInEffect(ref, env, file) ?? { value: null, source: 'not set' }) };
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
  // Showing a key must not run the command that prints it.
  return key && { value: 'command' in key ? key.command.command : maskKey(key.value), source: key.source };
}

/** The formats of `get` and `path`. Without an option for the format, both print the bare value. */
const recordFormats = ['json', 'ndjson', 'csv', 'tsv'] as const;

export const getCommand = define({
  summary: 'print one value',
  formats: recordFormats,
  operands: {
    '<name>': [
      'a setting, url.<env> or key.<env>',
      suggesting({ kind: 'words', words: [...settingWords, ...remoteWords('url'), ...remoteWords('key')] }),
    ],
  },
  description:
    'Prints the value in effect: from the environment, the configuration file, or the default. Exits with code 1 if it is not set.',
  before: `\nNames: ${entryNames.join(', ')};\n\`url\` and \`key\` refer to the chosen environment. Only the last 4 characters of a key are shown.\n`,
  examples: [
    ['petstock config get default-env'],
    ['petstock config get url --env production'],
    ['petstock config get low-stock --json', 'name, value and source as JSON'],
  ],
  run: async function* (invocation, _options, text) {
    const { context, configFile, store, results } = invocation;
    const ref = { store: store?.value, name: entryName(text, invocation) };
    const entry = readEntry(ref, context.env, configFile);
    if (entry.value === null) throw notSet(ref);
    if (results.isFormatNamed) yield { columns, rows: [[entry]], shape: 'one' };
    else await results.write(`${entry.value}\n`);
  },
});

function notSet(ref: EntryRef): FailureError {
  const { store, name } = ref;
  const hint = isSetting(name)
    ? petstock`config set ${name} ${definitionOf(name).isSecret ? [] : '<value>'}`
    : petstock`config ${name.startsWith('url.') ? ['set-url', 'https://<your-store>/v1'] : 'set-key'} ${targetWords({ store, env: environmentOf(name) })}`;
  return new FailureError(`${fullName(ref)} is not set`, { hint });
}

export const pathCommand = define({
  summary: 'print the path of the configuration file',
  formats: recordFormats,
  needsConfig: false,
  description:
    'Prints the path of the configuration file, which may not exist yet. PETSTOCK_CONFIG_DIR changes its folder.',
  examples: [['petstock config path'], ['ls -l "$(petstock config path)"']],
  run: async function* ({ context, results }) {
    const path = configFile(context.folders.config);
    if (results.isFormatNamed) yield recordView({ path });
    else await results.write(`${path}\n`);
  },
});
