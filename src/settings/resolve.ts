import { AuthError, UsageError } from '../shared/errors.ts';
import {
  didYouMean,
  type EnvironmentName,
  environmentNames,
  petstock,
  targetName,
  targetWords,
} from '../shared/hint.ts';
import { type Parsed, quoted } from '../shared/parsed.ts';
import type { ConfigFile, KeyCommand, StoredConfig } from './config-file.ts';
import { parseBaseUrl, parseKey } from './key-and-url.ts';
import {
  fromFile,
  parseStoreName,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type StoredSettings,
} from './settings.ts';
import { type Environment, keyVariables, type Sourced, unnamedStore, urlVariable, variable } from './variables.ts';

/** A key that a command prints. The key itself is not known yet. */
export interface PrintedKey {
  readonly command: KeyCommand;
  readonly source: typeof fromCommand;
}

/** The `source` of a key that a stored command prints. */
const fromCommand = 'key command';

/** Returns the first text that is set: the flag's, the variable's, or the setting's; undefined if none is set. */
function firstOf(
  flag: Sourced<string | undefined>,
  env: Environment,
  name: string,
  stored: string | undefined,
): Sourced<string> | undefined {
  const sources = [flag, { value: variable(env, name), source: name }, { value: stored, source: fromFile }];
  return sources.find((each): each is Sourced<string> => each.value !== undefined);
}

/**
 * Returns the environment of a command: from the flag, `PETSTOCK_ENV`, or the setting `default-env`; otherwise
 * `staging`.
 * @throws UsageError for an unknown name; it suggests the nearest known name
 */
export function resolveEnvironment(
  flag: string | undefined,
  env: Environment,
  { 'default-env': stored }: StoredSettings,
): Sourced<EnvironmentName> {
  const chosen = firstOf({ value: flag, source: '--env' }, env, 'PETSTOCK_ENV', stored);
  const { value: text, source } = chosen ?? { value: 'staging', source: 'default' };
  const value = environmentNames.find((known) => known === text);
  if (value !== undefined) return { value, source };
  throw new UsageError(
    `Unknown environment ${quoted(text)} in ${source}. The environments are ${environmentNames.join(', ')}.${didYouMean(text, environmentNames)}`,
    { hint: 'petstock help environment' },
  );
}

/**
 * Returns the store of a command: from the flag, `PETSTOCK_STORE`, or the setting `default-store`; undefined for the
 * store without a name (`default`).
 * @param flagName the name of the flag in messages
 * @throws UsageError for an invalid name
 */
export function resolveStore(
  flag: string | undefined,
  env: Environment,
  { settings: { 'default-store': stored } }: ConfigFile,
  flagName = '--store',
): Sourced<string> | undefined {
  const chosen = firstOf({ value: flag, source: flagName }, env, 'PETSTOCK_STORE', stored);
  if (chosen === undefined || chosen.value === unnamedStore) return undefined;
  const read = parseStoreName(chosen.value);
  if (read.ok) return chosen;
  throw new UsageError(`Invalid store name in ${chosen.source}: ${read.problem}.`, {
    hint: 'petstock help environment',
  });
}

/** Reports whether anything is stored for a store, or a variable is set for it. */
export function isKnownStore(store: string, env: Environment, file: ConfigFile): boolean {
  const variables = remoteEnvironmentNames.flatMap((name) => [...keyVariables(name, store), urlVariable(name, store)]);
  return Object.hasOwn(file.stores, store) || variables.some((name) => variable(env, name) !== undefined);
}

/**
 * @throws UsageError with the nearest name, if nothing is stored for the store and no variable is set for it
 */
export function requireKnownStore({ value: store, source }: Sourced<string>, env: Environment, file: ConfigFile): void {
  if (isKnownStore(store, env, file)) return;
  const names = Object.keys(file.stores).sort();
  const are = names.length === 1 ? 'The only store is' : 'The stores are';
  const known = names.length === 0 ? 'No store has a name yet.' : `${are} ${names.join(', ')}.`;
  throw new UsageError(`Unknown store "${store}" in ${source}.${didYouMean(store, names)} ${known}`, {
    hint: 'petstock config list',
  });
}

/**
 * Returns the key of an environment: from a variable, from the command that prints it, or the stored one; undefined if
 * there is none.
 * @throws UsageError if a variable contains an invalid key; its text is not repeated
 */
export function resolveKey(
  name: RemoteEnvironmentName,
  env: Environment,
  { store, keys, keyCommands }: StoredConfig,
): Sourced<string> | PrintedKey | undefined {
  const source = keySource(name, env, store);
  const command = keyCommands[name];
  if (source === undefined && command !== undefined) return { command, source: fromCommand };
  return resolved(env, source, keys[name], parseKey);
}

/** Returns a key that is known without running a command; otherwise undefined. */
export function knownKey(key: Sourced<string> | PrintedKey | undefined): Sourced<string> | undefined {
  return key === undefined || 'command' in key ? undefined : key;
}

/**
 * Returns the base URL of an environment: `PETSTOCK_URL_<ENV>`, or the stored one; undefined if none is set, because
 * there is no default.
 * @throws UsageError if the variable contains an invalid URL
 */
export function resolveBaseUrl(
  name: RemoteEnvironmentName,
  env: Environment,
  { store, urls }: StoredConfig,
): Sourced<string> | undefined {
  return resolved(env, urlSource(name, env, store), urls[name], parseBaseUrl);
}

function resolved(
  env: Environment,
  source: string | undefined,
  stored: string | undefined,
  parse: (text: string) => Parsed<string>,
): Sourced<string> | undefined {
  if (source === undefined) return stored === undefined ? undefined : { value: stored, source: fromFile };
  const read = parse(env[source] ?? '');
  if (read.ok) return { value: read.value, source };
  throw new UsageError(`${source} is not valid: ${read.problem}.`);
}

/** Returns the name of the variable that contains the key of an environment, valid or not; undefined if none is set. */
export function keySource(
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  return keyVariables(name, store).find((candidate) => variable(env, candidate) !== undefined);
}

function urlSource(name: RemoteEnvironmentName, env: Environment, store: string | undefined): string | undefined {
  const source = urlVariable(name, store);
  return variable(env, source) && source;
}

/**
 * Returns a warning that a variable overrides the stored key or URL of an environment; undefined if no such variable is
 * set. Does not check that one is stored. The warning shows no value.
 */
export function describeShadow(
  thing: 'key' | 'URL',
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  const source = (thing === 'key' ? keySource : urlSource)(name, env, store);
  const where = targetName({ store, env: name });
  return source && `${source} is set, so the stored ${thing} of ${where} is not used`;
}

/** Returns a line for each stored key or URL that an environment variable overrides. No line shows a value. */
export function describeShadows(env: Environment, config: StoredConfig): string[] {
  const lines = remoteEnvironmentNames.flatMap((name) => [
    config.urls[name] && describeShadow('URL', name, env, config.store),
    hasKey(name, config) ? describeShadow('key', name, env, config.store) : undefined,
  ]);
  return lines.filter((line) => line !== undefined);
}

export function hasKey(name: RemoteEnvironmentName, { keys, keyCommands }: StoredConfig): boolean {
  return keys[name] !== undefined || keyCommands[name] !== undefined;
}

/**
 * Returns the origin to which the stored key of an environment belongs: the origin for which it was stored, or that of
 * the stored URL. Undefined if there is no key, or if neither origin is known.
 */
export function originOfKey(name: RemoteEnvironmentName, config: StoredConfig): string | undefined {
  if (!hasKey(name, config)) return undefined;
  const url = config.urls[name];
  return config.keyOrigins[name] ?? (url && new URL(url).origin);
}

/**
 * Checks that a key may be sent to an address. No other code decides this. A key from a variable may be sent to any URL
 * in effect; a stored key, or a key that a stored command prints, only to its own origin.
 * @throws AuthError otherwise, with a hint to store the key again for that address
 */
export function requireKeyOfOrigin(
  name: RemoteEnvironmentName,
  key: Sourced<string> | PrintedKey,
  url: Sourced<string>,
  config: StoredConfig,
): void {
  if (key.source !== fromFile && key.source !== fromCommand) return;
  const owner = originOfKey(name, config);
  if (owner === new URL(url.value).origin) return;
  const whose = owner === undefined ? 'was stored before any address was set' : `was stored for ${owner}`;
  const from = url.source === fromFile ? 'the stored URL' : url.source;
  throw otherOrigin(name, url.value, config, `${whose}, but ${from} is ${url.value}. Nothing was sent`);
}

/**
 * Checks that a URL may be stored beside the stored key: any URL if there is no key or the key's origin is not known,
 * otherwise only a URL of that origin.
 * @throws AuthError otherwise, with a hint to store both again
 */
export function requireUrlOfKey(name: RemoteEnvironmentName, url: string, config: StoredConfig): void {
  const owner = originOfKey(name, config);
  if (owner === undefined || owner === new URL(url).origin) return;
  throw otherOrigin(name, url, config, `was stored for ${owner}, not for ${new URL(url).origin}. Nothing was stored`);
}

function otherOrigin(env: RemoteEnvironmentName, url: string, { store }: StoredConfig, words: string): AuthError {
  const where = { store, env };
  return new AuthError(`The stored key of ${targetName(where)} ${words}`, {
    hint: petstock`config set-key ${targetWords(where)} --url ${url}`,
  });
}
