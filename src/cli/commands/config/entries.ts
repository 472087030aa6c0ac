import type { Column, Scalar } from '../../../output/view.ts';
import { maskKey } from '../../../settings/keys.ts';
import { quoted, type SettingName, settingDefinitions, settingNames } from '../../../settings/names.ts';
import {
  fromFile,
  type PrintedKey,
  type Resolved,
  resolveBaseUrl,
  resolveEnvironment,
  resolveKey,
  resolveStateUrl,
} from '../../../settings/resolve.ts';
import {
  type ConfigFile,
  type EnvironmentName,
  remoteEnvironmentNames,
  type Sourced,
} from '../../../settings/settings.ts';
import { configOf, resolveStore } from '../../../settings/stores.ts';
import type { Environment } from '../../../settings/variables.ts';
import { maskDatabaseUrl } from '../../../shared/database-url.ts';
import { didYouMean } from '../../../shared/did-you-mean.ts';
import { UsageError } from '../../../shared/errors.ts';

/** What `config list` and `config get` show of one name. Keys are masked already. */
export interface Entry {
  /** Of a named store with its name: `north/url.staging`. */
  readonly name: string;
  /** null: not set, and there is no default. */
  readonly value: Scalar;
  readonly source: string;
}

export const entryColumns: readonly Column[] = [
  { field: 'name', title: 'Name' },
  { field: 'value', title: 'Value', whole: true },
  { field: 'source', title: 'Source' },
];

const urlNames = remoteEnvironmentNames.map((name) => `url.${name}` as const);
const keyNames = remoteEnvironmentNames.map((name) => `key.${name}` as const);

type RemoteEntryName = (typeof urlNames)[number] | (typeof keyNames)[number];
export type EntryName = SettingName | RemoteEntryName;

/** Every name, in the order in which they are listed. */
export const entryNames: readonly EntryName[] = [...settingNames, ...urlNames, ...keyNames];

/** One name of one store. */
export interface EntryRef {
  /** Undefined: the store without a name; its settings are those of all. */
  readonly store: string | undefined;
  readonly name: EntryName;
}

/**
 * Reads a name as it was typed; `url` and `key` are those of the chosen environment.
 * @throws UsageError for an unknown name
 */
export function entryName(text: string, environment: EnvironmentName): EntryName {
  const full = text === 'url' || text === 'key' ? `${text}.${environment}` : text;
  const name = entryNames.find((known) => known === full);
  if (name !== undefined) return name;
  throw new UsageError(
    `Unknown name${quoted(full)}.${didYouMean(full, entryNames)} There are ${entryNames.join(', ')}.`,
  );
}

/** The names that `config list` shows: those of the store without a name, then what is set of each other. */
export function listedEntries(file: ConfigFile): EntryRef[] {
  const named = Object.entries(file.stores).flatMap(([store, { settings }]) => {
    const own = settingNames.filter((name) => settings[name] !== undefined);
    return [...own, ...urlNames, ...keyNames].map((name) => ({ store, name }));
  });
  return [...entryNames.map((name) => ({ store: undefined, name })), ...named];
}

/**
 * The value that counts, and where it comes from.
 * @throws UsageError where an environment variable holds something that cannot be used
 */
export function readEntry({ store, name }: EntryRef, env: Environment, file: ConfigFile): Entry {
  const shown = store === undefined ? name : `${store}/${name}`;
  const config = configOf(file, store);
  for (const environment of remoteEnvironmentNames) {
    if (name === `url.${environment}`) return entry(shown, resolveBaseUrl(environment, env, config));
    if (name === `key.${environment}`) return entry(shown, masked(resolveKey(environment, env, config)));
  }
  if (name === 'state-url') return entry(shown, withoutPassword(resolveStateUrl(env, config.settings)));
  if (name === 'default-env') return entry(shown, resolveEnvironment(undefined, env, config.settings));
  if (name === 'default-store') return entry(shown, resolveStore(undefined, env, file));
  if (!isSetting(name)) return entry(shown, undefined);
  const stored = config.settings[name];
  if (stored !== undefined) return { name: shown, value: stored, source: fromFile };
  const { defaultValue } = settingDefinitions[name];
  return entry(shown, defaultValue === undefined ? undefined : { value: defaultValue, source: 'default' });
}

/** Is this the name of something that `config set` takes, not of a key or URL? */
export function isSetting(name: EntryName): name is SettingName {
  return settingNames.some((known) => known === name);
}

function entry(name: string, found: Sourced<Scalar> | undefined): Entry {
  return found === undefined
    ? { name, value: null, source: 'not set' }
    : { name, value: found.value, source: found.source };
}

function withoutPassword(url: Sourced<string> | undefined): Sourced<string> | undefined {
  return url === undefined ? undefined : { value: maskDatabaseUrl(url.value), source: url.source };
}

/** Of a key that is printed by a command, the command: nothing is run to show it. */
function masked(key: Resolved | PrintedKey | undefined): Sourced<string> | undefined {
  if (key === undefined) return undefined;
  return { value: 'command' in key ? key.command.command : maskKey(key.value), source: key.source };
}
