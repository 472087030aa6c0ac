import { type ConfigFile, configOf, type StoredConfig } from '../../settings/config-file.ts';
import { resolveEnvironment, resolveStore } from '../../settings/resolve.ts';
import type { EnvironmentName } from '../../settings/settings.ts';
import type { Environment, Sourced } from '../../settings/variables.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Where } from '../../shared/where.ts';

/** An environment of a store, and what counts there. */
export interface Place {
  /** One of several stores; undefined: the one without a name. */
  readonly store: Sourced<string> | undefined;
  readonly environment: Sourced<EnvironmentName>;
  /** The part of the configuration file that counts for the store. */
  readonly config: StoredConfig;
}

export function whereOf({ store, environment }: Place): Where {
  return { store: store?.value, env: environment.value };
}

/**
 * Returns the place of a command.
 * @param globals the values of `--env` and `--store`
 * @throws UsageError for a store or an environment that can't be
 */
export function resolvePlace(
  env: Environment,
  globals: { readonly env?: string; readonly store?: string },
  file: ConfigFile,
): Place {
  const store = resolveStore(globals.store, env, file);
  const config = configOf(file, store?.value);
  const environment = resolveEnvironment(globals.env, env, config.settings);
  if (environment.value !== 'sandbox' || store === undefined) return { store, environment, config };
  if (globals.store === undefined) return { store: undefined, environment, config: configOf(file, undefined) };
  throw new UsageError(`The sandbox belongs to no store; leave out --store ${globals.store}, or name another --env`, {
    hint: 'petstock help environment',
  });
}

/** A place that an operand names: `staging` of the store that is chosen, or `north/staging`. */
export interface NamedPlace {
  readonly name: EnvironmentName;
  /** As it was typed; undefined: the store that is chosen. */
  readonly store: string | undefined;
}

/** @throws UsageError for what can't be the name of a store */
export function resolveNamedPlace({ name, store }: NamedPlace, chosen: Place, file: ConfigFile): Place {
  const environment = { value: name, source: 'the command line' };
  if (name === 'sandbox') return { store: undefined, environment, config: configOf(file, undefined) };
  const named = store === undefined ? chosen.store : resolveStore(store, {}, file, 'the command line');
  return { store: named, environment, config: configOf(file, named?.value) };
}
