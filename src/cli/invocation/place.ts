import { type ConfigFile, configOf, type StoredConfig } from '../../settings/config-file.ts';
import { resolveEnvironment, resolveStore } from '../../settings/resolve.ts';
import type { EnvironmentName } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import type { GlobalOptions } from './globals.ts';

/** An environment of a store, and what counts there. */
export interface Place {
  /** Undefined: the store without a name. */
  readonly store: Sourced<string> | undefined;
  readonly environment: Sourced<EnvironmentName>;
  readonly config: StoredConfig;
}

/** What is chosen for a command. @throws UsageError for a store or an environment that can't be */
export function resolvePlace({ env }: Context, globals: GlobalOptions, file: ConfigFile): Place {
  const store = resolveStore(globals.store, env, file);
  const config = configOf(file, store?.value);
  const environment = resolveEnvironment(globals.env, env, config.settings);
  if (environment.value !== 'sandbox' || store === undefined) return { store, environment, config };
  if (globals.store !== undefined) {
    throw new UsageError(`The sandbox belongs to no store; leave out --store ${globals.store}, or name another --env`, {
      hint: 'petstock help environment',
    });
  }
  return { store: undefined, environment, config: configOf(file, undefined) };
}

/**
 * A place that an operand names: `staging` of the store that is chosen, or `north/staging`.
 * @param store as it was typed; undefined: the one that is chosen
 * @throws UsageError for what can't be the name of a store
 */
export function namedPlace(
  file: ConfigFile,
  chosen: Place,
  { name, store }: { readonly name: EnvironmentName; readonly store: string | undefined },
): Place {
  const environment = { value: name, source: 'the command line' };
  if (name === 'sandbox') return { store: undefined, environment, config: configOf(file, undefined) };
  const named = store === undefined ? chosen.store : resolveStore(store, {}, file, 'the command line');
  return { store: named, environment, config: configOf(file, named?.value) };
}
