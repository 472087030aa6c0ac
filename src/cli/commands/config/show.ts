import type { Column, Scalar } from '../../../output/view.ts';
import { type ConfigFile, configFile, configOf } from '../../../settings/config-file.ts';
import { maskKey } from '../../../settings/key-and-url.ts';
import { describeShadows, resolveBaseUrl, resolveKey } from '../../../settings/resolve.ts';
import {
  definitionOf,
  quotedUnlessKey,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  resolveSetting,
  type SettingName,
  type SettingValue,
  settingNames,
} from '../../../settings/settings.ts';
import type { Environment, Sourced } from '../../../settings/variables.ts';
import type { ConfigTarget, RemoteTarget } from '../../../settings/write-config.ts';
import { maskDatabaseUrl } from '../../../shared/database-url.ts';
import { didYouMean } from '../../../shared/did-you-mean.ts';
import { FailureError, UsageError } from '../../../shared/errors.ts';
import { petstock, targetWords } from '../../../shared/hint.ts';
import type { Context } from '../../context.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, fieldsOption } from '../define.ts';

const urlNames = remoteEnvironmentNames.map((name) => `url.${name}` as const);
const keyNames = remoteEnvironmentNames.map((name) => `key.${name}` as const);

export type EntryName = SettingName | (typeof urlNames)[number] | (typeof keyNames)[number];

const entryNames: readonly EntryName[] = [...settingNames, ...urlNames, ...keyNames];

/**
 * Returns the name of an entry that was typed; `url` and `key` stand for those of the chosen environment.
 * @throws UsageError for an unknown name, or for `url` or `key` of the sandbox
 */
export function entryName(text: string, invocation: Invocation): EntryName {
  if (text === 'url') return `url.${remoteTarget(invocation, 'URL').env}`;
  if (text === 'key') return `key.${remoteTarget(invocation, 'key').env}`;
  const name = entryNames.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(
    `Unknown name${quotedUnlessKey(text)}.${didYouMean(text, entryNames)} The names are ${entryNames.join(', ')}.`,
  );
}

export function isSetting(name: EntryName): name is SettingName {
  return settingNames.some((known) => known === name);
}

/** Returns the environment of an entry such as `url.staging`; staging for a setting. */
export function environmentOf(name: EntryName): RemoteEnvironmentName {
  return name.endsWith('.production') ? 'production' : 'staging';
}

/**
 * Returns where the key and the URL of the chosen target are stored.
 * @throws UsageError for the sandbox, because it creates its own key and URL
 */
export function remoteTarget({ context, store, environment }: Invocation, thing: 'key' | 'URL'): RemoteTarget {
  const remote = remoteEnvironmentNames.find((known) => known === environment.value);
  if (remote !== undefined) return { folder: context.folders.config, store: store?.value, env: remote };
  const words = `The sandbox makes its own ${thing}, which is not in the configuration. Choose another environment with --env`;
  throw new UsageError(`${words} (${remoteEnvironmentNames.join(' or ')}).`, { hint: 'petstock sandbox info' });
}

/**
 * Returns where settings are stored. They apply to all stores unless `--store` is given; a variable that chooses a
 * store doesn't limit a setting to that store.
 */
export function settingsTarget({ context, globals, store }: Invocation): ConfigTarget {
  return { folder: context.folders.config, store: globals.store === undefined ? undefined : store?.value };
}

/**
 * Maximum size of a key or URL on stdin, in bytes. A key is much shorter, and a file that was piped by mistake is
 * usually longer.
 */
const maxSecretBytes = 64 * 1024;

/**
 * Returns the answer to a hidden prompt, or all of stdin if there is no terminal.
 * @throws InterruptedError if the prompt is interrupted, UsageError if the input is too long
 */
export async function readSecret({ stdin, stderr, prompts }: Context, question: string): Promise<string> {
  if (stdin.isTerminal && stderr.isTerminal) return prompts.password(question);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of stdin.chunks) {
    bytes += chunk.length;
    if (bytes > maxSecretBytes) throw new UsageError('The input is too long to be a key or a URL. Nothing was stored.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const columns: readonly Column[] = [
  { field: 'name', title: 'Name' },
  { field: 'value', title: 'Value', whole: true },
  { field: 'source', title: 'Source' },
];

export interface EntryRef {
  /** The name of a store; undefined for the store without a name, whose settings apply to all stores. */
  readonly store: string | undefined;
  readonly name: EntryName;
}

export const defineList = define({
  description:
    'Shows each setting, URL and key, and its source: an environment variable, the configuration file or the default. Shows ' +
    'all stores, unless --store is given. Only the last 4 characters of a key are shown. A warning names each environment variable ' +
    'that overrides a stored key or URL.',
  options: [fieldsOption],
  examples: [['petstock config list'], ["petstock config list --json | jq -r '.[] | select(.value == null).name'"]],
  action: async (invocation) => {
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
    await invocation.results.print({ columns, rows: [rows], shape: 'list', isFacts: true });
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

/** Returns a setting for display, without a password. */
export function shownSetting(name: Parameters<typeof definitionOf>[0], value: SettingValue): Scalar {
  return definitionOf(name).isSecret ? maskDatabaseUrl(String(value)) : value;
}

function fullName({ store, name }: EntryRef): string {
  return store === undefined ? name : `${store}/${name}`;
}

export interface EntryChange {
  readonly ref: EntryRef;
  /** The new value, formatted as in `config list`; null if it was removed. */
  readonly value: Scalar;
  readonly changed: boolean;
}

/** Reports a stored or removed value as a sentence on stderr, and as a record on stdout if a format was given. */
export async function reportChange(
  { messages, results }: Invocation,
  { ref, value, changed }: EntryChange,
  sentence: string,
): Promise<void> {
  await messages.note(sentence);
  if (!results.isFormatNamed) return;
  const fields = [...columns.slice(0, 2), { field: 'changed', title: 'Changed' }];
  await results.print({ columns: fields, rows: [[{ name: fullName(ref), value, changed }]], shape: 'one' });
}

/** The formats of `get` and `path`. The default is the bare value, whatever the setting `output` says. */
const recordFormats = ['json', 'ndjson', 'csv', 'tsv'] as const;

export const defineGet = define({
  formats: recordFormats,
  operands: { '<name>': 'a setting, url.<env> or key.<env>' },
  description:
    'Prints the value in effect: from the environment, the configuration file, or the default. Exits with code 1 if it is not set.',
  before: `\nNames: ${entryNames.join(', ')};\n\`url\` and \`key\` refer to the chosen environment. Only the last 4 characters of a key are shown.\n`,
  examples: [
    ['petstock config get default-env'],
    ['petstock config get url --env production'],
    ['petstock config get low-stock --json', 'name, value and source as JSON'],
  ],
  action: async (invocation, _options, text) => {
    const { context, configFile, store, results } = invocation;
    const ref = { store: store?.value, name: entryName(text, invocation) };
    const entry = readEntry(ref, context.env, configFile);
    if (entry.value === null) throw notSet(ref);
    if (!results.isFormatNamed) return results.write(`${entry.value}\n`);
    await results.print({ columns, rows: [[entry]], shape: 'one' });
  },
});

function notSet(ref: EntryRef): FailureError {
  const { store, name } = ref;
  const hint = isSetting(name)
    ? petstock`config set ${name} ${definitionOf(name).isSecret ? [] : '<value>'}`
    : petstock`config ${name.startsWith('url.') ? ['set-url', 'https://<your-store>/v1'] : 'set-key'} ${targetWords({ store, env: environmentOf(name) })}`;
  return new FailureError(`${fullName(ref)} is not set`, { hint });
}

export const definePath = define({
  formats: recordFormats,
  needsConfig: false,
  description:
    'Prints the path of the configuration file, which may not exist yet. PETSTOCK_CONFIG_DIR changes its folder.',
  examples: [['petstock config path'], ['ls -l "$(petstock config path)"']],
  action: async ({ context, results }) => {
    const path = configFile(context.folders.config);
    if (!results.isFormatNamed) return results.write(`${path}\n`);
    await results.print({ columns: [{ field: 'path', title: 'Path' }], rows: [[{ path }]], shape: 'one' });
  },
});
