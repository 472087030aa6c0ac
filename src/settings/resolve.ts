import { didYouMean } from '../shared/did-you-mean.ts';
import { UsageError } from '../shared/errors.ts';
import { whereName } from '../shared/where.ts';
import { parseBaseUrl } from './base-url.ts';
import { parseKey } from './keys.ts';
import { quoted } from './names.ts';
import {
  type EnvironmentName,
  environmentNames,
  type KeyCommand,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type Sourced,
  type StoredConfig,
  type StoredSettings,
} from './settings.ts';
import { type Environment, keyVariables, urlVariable, variable } from './variables.ts';

/** A key or URL, where it came from, and whether it hides a stored one. */
export interface Resolved extends Sourced<string> {
  /** An environment variable gave the value, and the configuration file has one too. */
  readonly shadows: boolean;
}

/** A key that is not known yet: it is what a command prints. */
export interface PrintedKey {
  readonly command: KeyCommand;
  readonly source: typeof fromCommand;
}

/** What `source` says of a value from the configuration file. */
export const fromFile = 'config file';
/** The same of a key that a stored command prints. */
export const fromCommand = 'key command';

/**
 * Which environment a command talks to: the flag, `PETSTOCK_ENV`, the setting `default-env`, staging.
 * @throws UsageError for an unknown name, with the nearest one
 */
export function resolveEnvironment(
  flag: string | undefined,
  env: Environment,
  stored: StoredSettings,
): Sourced<EnvironmentName> {
  if (flag !== undefined) return { value: environmentName(flag, '--env'), source: '--env' };
  const fromVariable = variable(env, 'PETSTOCK_ENV');
  if (fromVariable !== undefined) {
    return { value: environmentName(fromVariable, 'PETSTOCK_ENV'), source: 'PETSTOCK_ENV' };
  }
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
 * The key of an environment: that of a variable, the command that prints it, the stored one. Undefined where no key is set.
 * @throws UsageError where a variable holds something that cannot be a key; the text is not repeated
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

/** The key itself, where it is known without running a command. */
export function knownKey(key: Resolved | PrintedKey | undefined): Resolved | undefined {
  return key === undefined || 'command' in key ? undefined : key;
}

/**
 * The base URL of an environment: `PETSTOCK_URL_<ENV>`, the stored one. There is no default: undefined where no URL is set.
 * @throws UsageError where the variable holds something that cannot be a base URL
 */
export function resolveBaseUrl(
  name: RemoteEnvironmentName,
  env: Environment,
  config: StoredConfig,
): Resolved | undefined {
  const source = urlVariable(name, config.store);
  const stored = config.urls[name];
  return resolved(
    env,
    variable(env, source) === undefined ? undefined : source,
    stored,
    stored !== undefined,
    parseBaseUrl,
  );
}

/** What `PETSTOCK_STATE_URL` says in place of a URL: no shared state, whatever is stored. */
const noStateUrl = 'none';

/** Where the state is that several machines share: `PETSTOCK_STATE_URL`, the stored one. Undefined: it is on this machine. */
export function resolveStateUrl(env: Environment, settings: StoredSettings): Sourced<string> | undefined {
  const fromVariable = variable(env, 'PETSTOCK_STATE_URL');
  if (fromVariable === noStateUrl) return undefined;
  if (fromVariable !== undefined) return { value: fromVariable, source: 'PETSTOCK_STATE_URL' };
  const stored = settings['state-url'];
  return stored === undefined ? undefined : { value: stored, source: fromFile };
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

/** The variable that gives the key of an environment, usable or not; undefined where no variable is set. */
export function keySource(
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  return keyVariables(name, store).find((candidate) => variable(env, candidate) !== undefined);
}

/** Says that a variable hides the stored key of an environment; undefined where no variable is set. */
export function describeKeyShadow(
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  const source = keySource(name, env, store);
  const where = whereName({ store, env: name });
  return source === undefined ? undefined : `${source} is set, so the stored key of ${where} is not used`;
}

/** Says that a variable hides the stored URL of an environment; undefined where it is not set. */
export function describeUrlShadow(
  name: RemoteEnvironmentName,
  env: Environment,
  store: string | undefined,
): string | undefined {
  const source = urlVariable(name, store);
  const where = whereName({ store, env: name });
  return variable(env, source) === undefined
    ? undefined
    : `${source} is set, so the stored URL of ${where} is not used`;
}

/**
 * One line for each environment variable that hides a key or URL of a store in the configuration file. No line shows a value.
 */
export function describeShadows(env: Environment, config: StoredConfig): string[] {
  const { store } = config;
  return remoteEnvironmentNames
    .flatMap((name) => [
      config.urls[name] === undefined ? undefined : describeUrlShadow(name, env, store),
      config.keys[name] === undefined && config.keyCommands?.[name] === undefined
        ? undefined
        : describeKeyShadow(name, env, store),
    ])
    .filter((line) => line !== undefined);
}
