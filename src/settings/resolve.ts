import { didYouMean } from '../shared/did-you-mean.ts';
import { AuthError, UsageError } from '../shared/errors.ts';
import { shellWord, whereName, whereOptions } from '../shared/where.ts';
import { parseBaseUrl } from './base-url.ts';
import type { ConfigFile, KeyCommand, StoredConfig } from './config-file.ts';
import { parseKey } from './keys.ts';
import {
  type EnvironmentName,
  environmentNames,
  fromFile,
  parseStoreName,
  quoted,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type StoredSettings,
  unnamedStore,
} from './settings.ts';
import { type Environment, keyVariables, type Sourced, urlVariable, variable } from './variables.ts';

/** A key or URL, where it came from, and whether it hides a stored one. */
export interface Resolved extends Sourced<string> {
  /** An environment variable gave the value, and the configuration file has one too. */
  readonly shadows: boolean;
}

/** A key that is not known yet: a command prints it. */
export interface PrintedKey {
  readonly command: KeyCommand;
  readonly source: typeof fromCommand;
}

/** The `source` of a key that a stored command prints. */
export const fromCommand = 'key command';

/**
 * Returns the environment of a command: the flag, `PETSTOCK_ENV`, the setting `default-env`, staging.
 * @throws UsageError for an unknown name, with the nearest one
 */
export function resolveEnvironment(
  flag: string | undefined,
  env: Environment,
  stored: StoredSettings,
): Sourced<EnvironmentName> {
  if (flag !== undefined) return { value: environmentName(flag, '--env'), source: '--env' };
  const named = variable(env, 'PETSTOCK_ENV');
  if (named !== undefined) return { value: environmentName(named, 'PETSTOCK_ENV'), source: 'PETSTOCK_ENV' };
  const setting = stored['default-env'];
  return setting === undefined ? { value: 'staging', source: 'default' } : { value: setting, source: fromFile };
}

function environmentName(text: string, source: string): EnvironmentName {
  const name = environmentNames.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(
    `Unknown environment${quoted(text)} in ${source}: there are ${environmentNames.join(', ')}.${didYouMean(text, environmentNames)}`,
    { hint: 'petstock help environment' },
  );
}

/**
 * Returns the store of a command: the flag, `PETSTOCK_STORE`, the setting `default-store`; undefined for the one without a name,
 * which is called `default`.
 *
 * @param flagName the name of the flag in messages
 * @throws UsageError for a text that can't be the name of a store
 */
export function resolveStore(
  flag: string | undefined,
  env: Environment,
  file: ConfigFile,
  flagName = '--store',
): Sourced<string> | undefined {
  const named = variable(env, 'PETSTOCK_STORE');
  if (flag !== undefined) return chosen(flag, flagName);
  if (named !== undefined) return chosen(named, 'PETSTOCK_STORE');
  const setting = file.settings['default-store'];
  return setting === undefined ? undefined : chosen(setting, fromFile);
}

function chosen(text: string, source: string): Sourced<string> | undefined {
  if (text === unnamedStore) return undefined;
  const parsed = parseStoreName(text);
  if (parsed.ok) return { value: parsed.value, source };
  throw new UsageError(`Invalid store name in ${source}: ${parsed.fault}.`, { hint: 'petstock config list' });
}

/** Reports whether something is stored for a store, or a variable is set for it. */
export function isKnownStore(store: string, env: Environment, file: ConfigFile): boolean {
  const variables = remoteEnvironmentNames.flatMap((name) => [...keyVariables(name, store), urlVariable(name, store)]);
  return Object.hasOwn(file.stores, store) || variables.some((name) => variable(env, name) !== undefined);
}

/** @throws UsageError with the nearest name for a store that nothing is stored for and no variable is set for */
export function requireKnownStore({ value: store, source }: Sourced<string>, env: Environment, file: ConfigFile): void {
  if (isKnownStore(store, env, file)) return;
  const names = Object.keys(file.stores);
  const are = names.length === 1 ? 'There is only' : 'There are';
  const known = names.length === 0 ? 'No store has a name yet.' : `${are} ${names.join(', ')}.`;
  throw new UsageError(`Unknown store "${store}" in ${source}.${didYouMean(store, names)} ${known}`, {
    hint: `petstock config set-url 'https://<your-store>/v1' --store ${shellWord(store)}`,
  });
}

/**
 * Returns the key of an environment: that of a variable, the command that prints it, the stored one; undefined if there is none.
 * @throws UsageError if a variable holds a text that can't be a key; the text is not repeated
 */
export function resolveKey(
  name: RemoteEnvironmentName,
  env: Environment,
  config: StoredConfig,
): Resolved | PrintedKey | undefined {
  const source = keySource(name, env, config.store);
  const command = config.keyCommands?.[name];
  if (source === undefined && command !== undefined) return { command, source: fromCommand };
  const hides = command !== undefined || config.keys[name] !== undefined;
  return resolved(env, source, source === undefined ? config.keys[name] : undefined, hides, parseKey);
}

/** Returns the key if it is known without running a command. */
export function knownKey(key: Resolved | PrintedKey | undefined): Resolved | undefined {
  return key === undefined || 'command' in key ? undefined : key;
}

/**
 * Returns the base URL of an environment: `PETSTOCK_URL_<ENV>`, the stored one; undefined if none is set, since there is no
 * default.
 * @throws UsageError if the variable holds a text that can't be a base URL
 */
export function resolveBaseUrl(
  name: RemoteEnvironmentName,
  env: Environment,
  config: StoredConfig,
): Resolved | undefined {
  const source = urlVariable(name, config.store);
  const stored = config.urls[name];
  const isSet = variable(env, source) !== undefined;
  return resolved(env, isSet ? source : undefined, stored, stored !== undefined, parseBaseUrl);
}

function resolved(
  env: Environment,
  source: string | undefined,
  stored: string | undefined,
  hides: boolean,
  parse: typeof parseKey,
): Resolved | undefined {
  if (source === undefined)
    return stored === undefined ? undefined : { value: stored, source: fromFile, shadows: false };
  const parsed = parse(env[source] ?? '');
  if (!parsed.ok) throw new UsageError(`${source} cannot be used: ${parsed.fault}.`);
  return { value: parsed.value, source, shadows: hides };
}

/** Returns the variable that gives the key of an environment, usable or not; undefined if no variable is set. */
export function keySource(
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  return keyVariables(name, store).find((candidate) => variable(env, candidate) !== undefined);
}

/** Returns a warning if a variable hides the stored key or URL of an environment. It shows no value. */
export function describeShadow(
  thing: 'key' | 'URL',
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  const url = urlVariable(name, store);
  const source = thing === 'key' ? keySource(name, env, store) : variable(env, url) && url;
  const where = whereName({ store, env: name });
  return source === undefined ? undefined : `${source} is set, so the stored ${thing} of ${where} is not used`;
}

/** Returns a line for each environment variable that hides a stored key or URL of a store. No line shows a value. */
export function describeShadows(env: Environment, config: StoredConfig): string[] {
  const { store, urls, keys, keyCommands } = config;
  return remoteEnvironmentNames
    .flatMap((name) => [
      urls[name] === undefined ? undefined : describeShadow('URL', name, env, store),
      keys[name] === undefined && keyCommands?.[name] === undefined
        ? undefined
        : describeShadow('key', name, env, store),
    ])
    .filter((line) => line !== undefined);
}

/**
 * Returns the origin that the stored key of an environment belongs to: the one that it was stored for; if none was stored with
 * it, that of the URL stored beside it. Undefined: there is no key, or no address was known when it was stored.
 */
export function originOfKey(name: RemoteEnvironmentName, config: StoredConfig): string | undefined {
  if (config.keys[name] === undefined && config.keyCommands?.[name] === undefined) return undefined;
  const url = config.urls[name];
  return config.keyOrigins?.[name] ?? (url === undefined ? undefined : new URL(url).origin);
}

/**
 * Decides, as the only place, whether a key may go to an address. A key from a variable goes with whatever URL is in effect; a
 * stored key, or one that a stored command prints, only to the origin that it belongs to. No command has run by then.
 *
 * @throws AuthError with the command that stores the key again, for that address
 */
export function requireKeyOfOrigin(
  name: RemoteEnvironmentName,
  key: Resolved | PrintedKey,
  url: Resolved,
  config: StoredConfig,
): void {
  if (key.source !== fromFile && key.source !== fromCommand) return;
  const owner = originOfKey(name, config);
  if (owner === new URL(url.value).origin) return;
  const whose = owner === undefined ? 'was stored before any address was known' : `was stored for ${owner}`;
  const from = url.source === fromFile ? 'the stored URL' : urlVariable(name, config.store);
  const where = whereName({ store: config.store, env: name });
  throw new AuthError(`The stored key of ${where} ${whose}; ${from} names ${url.value}. Nothing was sent`, {
    hint: restoreCommand(name, url.value, config),
  });
}

/**
 * Decides whether a URL may be stored beside the stored key. The first one may, wherever it leads: the key is bound to it.
 * @throws AuthError with the command that stores both again
 */
export function requireUrlOfKey(name: RemoteEnvironmentName, url: string, config: StoredConfig): void {
  const owner = originOfKey(name, config);
  if (owner === undefined || owner === new URL(url).origin) return;
  const where = whereName({ store: config.store, env: name });
  throw new AuthError(
    `The stored key of ${where} was stored for ${owner}, and ${url} is another origin. Nothing was stored`,
    { hint: restoreCommand(name, url, config) },
  );
}

function restoreCommand(env: RemoteEnvironmentName, url: string, { store }: StoredConfig): string {
  return `petstock config set-key ${whereOptions({ store, env })} --url ${shellWord(url)}`;
}
