import { type ColorChoice, colorChoices } from '../../output/terminal.ts';
import { type Format, formats } from '../../output/view.ts';
import { type ConfigFile, configOf, type StoredConfig } from '../../settings/config-file.ts';
import { resolveEnvironment, resolveStore } from '../../settings/resolve.ts';
import { type StoredSettings, unnamedStore } from '../../settings/settings.ts';
import { type Environment, type Sourced, variable } from '../../settings/variables.ts';
import { UsageError } from '../../shared/errors.ts';
import type { EnvironmentName, Target } from '../../shared/target.ts';
import type { Context } from '../context.ts';

/** The global options as Commander parsed them; not yet validated against settings. */
export interface GlobalOptions {
  readonly env?: string;
  readonly store?: string;
  readonly output?: string;
  readonly header?: boolean;
  readonly json?: boolean;
  readonly stringIds?: boolean;
  /** False: `--no-pager`. */
  readonly pager?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly 'debug=json'?: boolean;
  readonly retries?: string;
  /** CSV: text that looks like a formula stays as it is. */
  readonly raw?: boolean;
  /** Of a command that has `--fields`. */
  readonly fields?: readonly string[];
  readonly color?: string;
  readonly timeout?: string;
  readonly maxWait?: string;
}

/** @throws UsageError for an unknown format, one that the command does not have, or two that differ */
export function resolveFormat(
  { output, json }: GlobalOptions,
  settings: StoredSettings,
  isTerminal: boolean,
  { hasPage }: { readonly hasPage?: boolean },
): Format {
  const hint = 'petstock help output';
  const valid: readonly Format[] = hasPage ? [...formats, 'html'] : formats;
  const named = valid.find((format) => format === output);
  if (output !== undefined && named === undefined) {
    throw new UsageError(`Invalid output format "${output}"; valid are ${valid.join(', ')}`, { hint });
  }
  if (json && named !== undefined && named !== 'json') {
    throw new UsageError(`--json and -o ${named} cannot be used together; leave one out`, { hint });
  }
  return json ? 'json' : (named ?? settings.output ?? (isTerminal ? 'table' : 'tsv'));
}

export interface RequestPolicy {
  /** Milliseconds, for one request. */
  readonly timeout: number;
  /** Milliseconds, for all waits for a rate limit. */
  readonly maxWait: number;
  /** How often a request is sent again after a fault of the network. */
  readonly retries: number;
}

export function resolveRequestPolicy({ timeout, maxWait, retries = '4' }: GlobalOptions): RequestPolicy {
  const patience = {
    timeout: parseSeconds('--timeout', timeout, 30),
    maxWait: parseSeconds('--max-wait', maxWait, 90),
  };
  if (patience.timeout === 0) throw new UsageError('--timeout has to be more than 0 seconds');
  if (/^\d{1,2}$/.test(retries)) return { ...patience, retries: Number(retries) };
  throw new UsageError(`--retries takes a whole number from 0 to 99; not "${retries}"`);
}

/** The most that a timer of Node can hold, and longer than any window. */
const maxSeconds = 2_000_000;

/** @returns milliseconds */
function parseSeconds(option: string, text: string | undefined, standard: number): number {
  const seconds = text === undefined ? standard : /^\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= maxSeconds) return seconds * 1000;
  throw new UsageError(`${option} takes a number of seconds, such as ${standard}; not "${text}"`);
}

export function resolveColorFlag(text = 'auto'): ColorChoice {
  const choice = colorChoices.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--color takes auto, always or never; not "${text}"`);
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
