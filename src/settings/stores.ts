import { didYouMean } from '../shared/did-you-mean.ts';
import { UsageError } from '../shared/errors.ts';
import { shellWord } from '../shared/shell-word.ts';
import type { Parsed } from './parsed.ts';
import {
  type ConfigFile,
  environmentNames,
  remoteEnvironmentNames,
  type Sourced,
  type StoredConfig,
  type StoredStore,
} from './settings.ts';
import { type Environment, keyVariables, urlVariable, variable } from './variables.ts';

/** What `--store` takes for the store without a name. */
export const unnamedStore = 'default';

/** What is stored of a store that is not in the file. */
export const emptyStore: StoredStore = { settings: {}, keys: {}, urls: {} };

/**
 * Reads the name of a store. Its variables are made of it, and `store/environment` names a place: letters, digits and `-`.
 */
export function parseStoreName(text: string): Parsed<string> {
  if ((environmentNames as readonly string[]).includes(text)) {
    return { ok: false, fault: `"${text}" is an environment: --env ${text}` };
  }
  const isName = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(text) && text.length <= 32;
  return isName
    ? { ok: true, value: text }
    : {
        ok: false,
        fault: 'a store is named by up to 32 lower-case letters, digits and single hyphens, and begins with a letter',
      };
}

/**
 * Which store a command is about: the flag, `PETSTOCK_STORE`, the setting `default-store`, the one without a name.
 * @param flagName what the flag is called in messages
 * @returns undefined for the one without a name, which `default` names
 * @throws UsageError for what can't be the name of a store
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
  return setting === undefined ? undefined : chosen(setting, 'config file');
}

function chosen(text: string, source: string): Sourced<string> | undefined {
  if (text === unnamedStore) return undefined;
  const parsed = parseStoreName(text);
  if (parsed.ok) return { value: parsed.value, source };
  throw new UsageError(`Invalid store name in ${source}: ${parsed.fault}.`, {
    hint: 'petstock config list',
  });
}

/** What counts for one store, and nothing of any other. Settings of its own go before those of all. */
export function configOf(file: ConfigFile, store: string | undefined): StoredConfig {
  if (store === undefined) return { ...withoutStores(file), store };
  const own = Object.hasOwn(file.stores, store) ? (file.stores[store] ?? emptyStore) : emptyStore;
  return { ...own, settings: { ...file.settings, ...own.settings }, store };
}

function withoutStores({ stores: _stores, ...unnamed }: ConfigFile): StoredStore {
  return unnamed;
}

/** Whether something is stored for it, or a variable is set for it. */
export function isKnownStore(store: string, env: Environment, file: ConfigFile): boolean {
  const variables = remoteEnvironmentNames.flatMap((name) => [...keyVariables(name, store), urlVariable(name, store)]);
  return Object.hasOwn(file.stores, store) || variables.some((name) => variable(env, name) !== undefined);
}

/**
 * A name that nothing is stored for, and no variable is set for, is a slip of the pen.
 * @throws UsageError with the nearest name
 */
export function requireKnownStore({ value: store, source }: Sourced<string>, env: Environment, file: ConfigFile): void {
  if (isKnownStore(store, env, file)) return;
  const names = Object.keys(file.stores);
  const are = names.length === 1 ? 'There is only' : 'There are';
  const known = names.length === 0 ? 'No store has a name yet.' : `${are} ${names.join(', ')}.`;
  throw new UsageError(`Unknown store "${store}" in ${source}.${didYouMean(store, names)} ${known}`, {
    hint: `petstock config set-url https://<your-store>/v1 --store ${shellWord(store)}`,
  });
}
