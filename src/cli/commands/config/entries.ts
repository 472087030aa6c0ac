import type { Column, Scalar } from '../../../output/view.ts';
import { maskKey } from '../../../settings/keys.ts';
import { quoted, type SettingName, settingDefinitions, settingNames } from '../../../settings/names.ts';
import { fromFile, resolveBaseUrl, resolveEnvironment, resolveKey } from '../../../settings/resolve.ts';
import {
  type EnvironmentName,
  remoteEnvironmentNames,
  type Sourced,
  type StoredConfig,
} from '../../../settings/settings.ts';
import type { Environment } from '../../../settings/variables.ts';
import { didYouMean } from '../../../shared/did-you-mean.ts';
import { UsageError } from '../../../shared/errors.ts';

/** What `config list` and `config get` show of one name. Keys are masked already. */
export interface Entry {
  readonly name: EntryName;
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

export type EntryName = SettingName | (typeof urlNames)[number] | (typeof keyNames)[number];

/** Every name, in the order in which they are listed. */
export const entryNames: readonly EntryName[] = [...settingNames, ...urlNames, ...keyNames];

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

/**
 * The value that counts, and where it comes from.
 * @throws UsageError where an environment variable holds something that cannot be used
 */
export function readEntry(name: EntryName, env: Environment, config: StoredConfig): Entry {
  for (const environment of remoteEnvironmentNames) {
    if (name === `url.${environment}`) return entry(name, resolveBaseUrl(environment, env, config));
    if (name === `key.${environment}`) return entry(name, masked(resolveKey(environment, env, config)));
  }
  if (name === 'default-env') return entry(name, resolveEnvironment(undefined, env, config.settings));
  return isSetting(name) ? readSetting(name, config) : entry(name, undefined);
}

/** Is this the name of something that `config set` takes, not of a key or URL? */
export function isSetting(name: EntryName): name is SettingName {
  return settingNames.some((known) => known === name);
}

function readSetting(name: SettingName, config: StoredConfig): Entry {
  const stored = config.settings[name];
  if (stored !== undefined) return { name, value: stored, source: fromFile };
  const { defaultValue } = settingDefinitions[name];
  return defaultValue === undefined ? entry(name, undefined) : { name, value: defaultValue, source: 'default' };
}

function entry(name: EntryName, found: Sourced<string> | undefined): Entry {
  return found === undefined
    ? { name, value: null, source: 'not set' }
    : { name, value: found.value, source: found.source };
}

function masked(key: Sourced<string> | undefined): Sourced<string> | undefined {
  return key === undefined ? undefined : { value: maskKey(key.value), source: key.source };
}
