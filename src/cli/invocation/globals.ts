import { type Format, formats } from '../../output/view.ts';
import { type ConfigFile, configOf, type StoredConfig } from '../../settings/config-file.ts';
import { resolveEnvironment, resolveStore } from '../../settings/resolve.ts';
import { type StoredSettings, unnamedStore } from '../../settings/settings.ts';
import type { SharedOptions } from '../../settings/shared-options.ts';
import { type Environment, type Sourced, variable } from '../../settings/variables.ts';
import { UsageError } from '../../shared/errors.ts';
import type { EnvironmentName, Target } from '../../shared/target.ts';
import type { Context } from '../context.ts';

/** Options by their names, as Commander has them: `stringIds`. */
export type TypedOptions = Readonly<Record<string, string | boolean>>;

/** The options that all commands share, and one that most have. */
export interface GlobalOptions extends SharedOptions {
  readonly typed: TypedOptions;
  /** Of a command that has `--fields`. */
  readonly fields?: readonly string[];
}

/** @throws UsageError for a format that the command does not have, or two that differ */
export function resolveFormat(
  { output, json }: GlobalOptions,
  settings: StoredSettings,
  isTerminal: boolean,
  { hasPage }: { readonly hasPage?: boolean },
): Format {
  const hint = 'petstock help output';
  if (output === 'html' && !hasPage) {
    throw new UsageError(`Invalid output format "html"; valid are ${formats.join(', ')}`, { hint });
  }
  if (json && output !== undefined && output !== 'json') {
    throw new UsageError(`--json and -o ${output} cannot be used together; leave one out`, { hint });
  }
  return json ? 'json' : (output ?? settings.output ?? (isTerminal ? 'table' : 'tsv'));
}

export interface RequestPolicy {
  /** Milliseconds, for one request. */
  readonly timeout: number;
  /** Milliseconds, for all waits for a rate limit. */
  readonly maxWait: number;
  /** How often a request is sent again after a fault of the network. */
  readonly retries: number;
}

export function resolveRequestPolicy({
  timeout = 30_000,
  maxWait = 90_000,
  retries = 4,
}: GlobalOptions): RequestPolicy {
  return { timeout, maxWait, retries };
}

/** An environment of a store, and what counts there. */
export interface ResolvedTarget {
  /** One of several stores; undefined: the one without a name. */
  readonly store: Sourced<string> | undefined;
  readonly environment: Sourced<EnvironmentName>;
  /** The part of the configuration file that counts for the store. */
  readonly config: StoredConfig;
}

export function targetOf({ store, environment }: ResolvedTarget): Target {
  return { store: store?.value, env: environment.value };
}

/** Returns the place of a command by `--env` and `--store`. @throws UsageError for a store or an environment that can't be */
export function resolveTarget(
  { env, argv }: { readonly env: Environment; readonly argv: readonly string[] },
  globals: { readonly env?: string; readonly store?: string },
  file: ConfigFile,
): ResolvedTarget {
  const store = resolveStore(globals.store, env, file);
  const config = configOf(file, store?.value);
  const environment = resolveEnvironment(globals.env, env, config.settings, argv);
  if (environment.value !== 'sandbox' || store === undefined) return { store, environment, config };
  if (globals.store === undefined) return { store: undefined, environment, config: configOf(file, undefined) };
  throw new UsageError(`The sandbox belongs to no store; leave out --store ${globals.store}, or name another --env`, {
    hint: 'petstock help environment',
  });
}

interface Named {
  readonly context: Pick<Context, 'env'>;
  readonly globals: GlobalOptions;
  readonly target: Target;
}

/**
 * Returns the environment and the store that a flag or a variable names, null for the store without a name, undefined for all.
 * Settings name the place that a command works on, and leave nothing out of a list.
 */
export function namedTarget({ context, globals, target }: Named) {
  const isEnv = (globals.env ?? variable(context.env, 'PETSTOCK_ENV')) !== undefined;
  const store = globals.store ?? variable(context.env, 'PETSTOCK_STORE');
  const env = isEnv ? target.env : undefined;
  // The sandbox belongs to no store, whatever the variable says.
  const isUnnamed = store === unnamedStore || env === 'sandbox';
  return { env, store: store !== undefined && isUnnamed ? null : store };
}

/** Reports whether a flag or a variable names a place; if there is neither, all are meant. @param invocation of the command */
export function isNamed(invocation: Named, { env, store }: Target): boolean {
  const named = namedTarget(invocation);
  return (
    (named.env === undefined || env === named.env) && (named.store === undefined || (store ?? null) === named.store)
  );
}

/** A place that an operand names: `staging` of the store that is chosen, or `north/staging`. */
export interface NamedTarget {
  readonly name: EnvironmentName;
  /** As it was typed; undefined: the store that is chosen. */
  readonly store: string | undefined;
}

/** @throws UsageError for what can't be the name of a store */
export function resolveNamedTarget(
  { name, store }: NamedTarget,
  chosen: ResolvedTarget,
  file: ConfigFile,
): ResolvedTarget {
  const environment = { value: name, source: 'the command line' };
  if (name === 'sandbox') return { store: undefined, environment, config: configOf(file, undefined) };
  const named = store === undefined ? chosen.store : resolveStore(store, {}, file, 'the command line');
  return { store: named, environment, config: configOf(file, named?.value) };
}
