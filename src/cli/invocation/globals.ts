import { type Format, formats } from '../../output/view.ts';
import { type ConfigFile, configOf, type StoredConfig } from '../../settings/config-file.ts';
import { resolveEnvironment, resolveStore } from '../../settings/resolve.ts';
import type { SharedOptions } from '../../settings/shared-options.ts';
import { type Environment, type Sourced, unnamedStore, variable } from '../../settings/variables.ts';
import { UsageError } from '../../shared/errors.ts';
import type { EnvironmentName, FlagValues, Target } from '../../shared/hint.ts';
import type { Context } from '../context.ts';

/** The options that all commands share, and `--fields`, which most commands with a table have. */
export interface GlobalOptions extends SharedOptions {
  readonly typed: FlagValues;
  /** The values of `--fields`; undefined if it was not given. */
  readonly fields: readonly string[] | undefined;
}

export interface ChosenFormat {
  readonly format: Format;
  /** Whether an option, a variable or a setting named the format. */
  readonly isFormatNamed: boolean;
}

/**
 * Returns the output format of a command. A format from a variable or a setting is only a default: a command ignores it
 * if it lacks that format or has no table. Only `html` from a variable is as binding as a typed format.
 * @param usual the format from the setting
 * @throws UsageError for an unknown format, a format that the command does not have, or two formats that differ
 */
export function resolveFormat(
  { typed, json, output }: GlobalOptions,
  usual: Format | undefined,
  isTerminal: boolean,
  { name, formats: known = formats }: { readonly name: string; readonly formats?: readonly Format[] | undefined },
): ChosenFormat {
  const hint = 'petstock help output';
  // A script that asks for a page by a variable can't use plain text instead.
  const asked = json ? 'json' : (typed.output ?? (output === 'html' ? output : undefined));
  const named = known.find((format) => format === asked);
  if (json && typed.output !== undefined && typed.output !== 'json') {
    throw new UsageError(`--json and -o ${typed.output} can't be used together. Leave one out`, { hint });
  }
  if (asked !== undefined && named === undefined) {
    const problem = `Invalid output format "${asked}"`;
    const forms =
      known.length === 0
        ? `${name} prints its own text and has no formats`
        : `The valid formats are ${known.join(', ')}`;
    throw new UsageError(`${problem}. ${forms}`, { hint });
  }
  const format = named ?? (known.includes('table') ? known.find((each) => each === (output ?? usual)) : undefined);
  return { format: format ?? (isTerminal ? 'table' : 'tsv'), isFormatNamed: format !== undefined };
}

export interface ResolvedTarget {
  /** The name of one of several stores; undefined for the store without a name. */
  readonly store: Sourced<string> | undefined;
  readonly environment: Sourced<EnvironmentName>;
  /** The part of the configuration file that applies to the store. */
  readonly config: StoredConfig;
}

export function targetOf({ store, environment }: ResolvedTarget): Target {
  return { store: store?.value, env: environment.value };
}

/**
 * Returns the target of a command: from `--env` and `--store`, their variables, or settings. The sandbox has no store,
 * so a store that is not from `--store` is ignored for it.
 * @throws UsageError for an invalid store or environment, or for `--store` with the sandbox
 */
export function resolveTarget(
  { env }: { readonly env: Environment },
  globals: { readonly env?: string; readonly store?: string },
  file: ConfigFile,
): ResolvedTarget {
  const store = resolveStore(globals.store, env, file);
  const config = configOf(file, store?.value);
  const environment = resolveEnvironment(globals.env, env, config.settings);
  if (environment.value !== 'sandbox' || store === undefined) return { store, environment, config };
  if (globals.store === undefined) return { store: undefined, environment, config: configOf(file, undefined) };
  throw new UsageError(`The sandbox belongs to no store. Leave out --store ${globals.store}, or choose another --env`, {
    hint: 'petstock help environment',
  });
}

interface Named {
  readonly context: Pick<Context, 'env'>;
  readonly globals: GlobalOptions;
  readonly target: Target;
}

/**
 * Returns the environment and the store that an option or a variable names. The store is null for the store without a
 * name. An undefined environment or store stands for all of them. Settings are ignored, because they choose the target
 * of a command but don't filter a list.
 */
export function namedTarget({ context, globals, target }: Named) {
  const isEnv = (globals.env ?? variable(context.env, 'PETSTOCK_ENV')) !== undefined;
  const store = globals.store ?? variable(context.env, 'PETSTOCK_STORE');
  const env = isEnv ? target.env : undefined;
  // The sandbox belongs to no store, whatever the variable says.
  const isUnnamed = store === unnamedStore || env === 'sandbox';
  return { env, store: store !== undefined && isUnnamed ? null : store };
}

/** Reports whether an option or a variable names an environment or a store. */
export function isNarrowed(invocation: Named): boolean {
  const { env, store } = namedTarget(invocation);
  return env !== undefined || store !== undefined;
}

/** Reports whether a target is among those that options and variables name. True for every target if they name none. */
export function isNamed(invocation: Named, { env, store }: Target): boolean {
  const named = namedTarget(invocation);
  return (
    (named.env === undefined || env === named.env) && (named.store === undefined || (store ?? null) === named.store)
  );
}

/** A target named by an operand: `staging` of the chosen store, or `north/staging`. */
export interface NamedTarget {
  readonly name: EnvironmentName;
  /** The store as it was typed; undefined for the chosen store. */
  readonly store: string | undefined;
}

/**
 * Returns the target that an operand names, with its configuration.
 * @throws UsageError if the name of the store is not valid
 */
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
