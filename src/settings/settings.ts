import { statSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../shared/errors.ts';
import { didYouMean, environmentNames, petstock, type Target, targetWords } from '../shared/hint.ts';
import { type Parsed, parsed, problem, quoted, sentence } from '../shared/parsed.ts';
import { type Environment, ownState, type Sourced, unnamedStore, variable } from './variables.ts';

/** The environments for which a key and a URL can be stored; the sandbox creates its own. */
export const remoteEnvironmentNames = ['staging', 'production'] as const;
export type RemoteEnvironmentName = (typeof remoteEnvironmentNames)[number];

/** The `source` of a value from the configuration file. */
export const fromFile = 'config file';

/** A setting: where its value may come from, how the value is parsed, stored, shown and completed, and its help. */
export interface Setting<Value> {
  /** The explanation in help, one line. */
  readonly meaning: string;
  /** The values, for help and completion, like `bulk|always` or `<file>`. */
  readonly values: string;
  /** The rule for a value, for messages, like `a whole number from 0`. */
  readonly rule: string;
  readonly defaultValue: Value | undefined;
  /** The environment variable that overrides the file. */
  readonly variable?: string;
  /** The text of the variable that turns the setting off, whatever is stored. */
  readonly none?: string;
  readonly isForAllStores?: true;
  /**
   * Set if the value is a database URL, which may contain a password. The value is then shown without its password, and
   * may be given on stdin.
   */
  readonly isSecret?: true;
  /** Parses typed text. A stored number is parsed again from its digits. */
  parse(text: string): Parsed<Value>;
  /**
   * Returns the value to store.
   * @throws UsageError if the value can't be used on this machine
   */
  toStore?(value: Value): Promise<Value>;
}

/** All settings, in the order in which they are listed. Listing, setting, help and completion use this table. */
export const settingDefinitions = {
  'default-env': {
    ...oneOf(environmentNames, 'staging', 'the environment if neither --env nor PETSTOCK_ENV is given'),
    variable: 'PETSTOCK_ENV',
  },
  'default-store': {
    meaning: 'the store if neither --store nor PETSTOCK_STORE is given',
    values: '<store>',
    rule: 'the name of a store',
    defaultValue: undefined,
    variable: 'PETSTOCK_STORE',
    none: unnamedStore,
    isForAllStores: true,
    parse: parseStoreName,
  },
  confirm: oneOf(['bulk', 'always'], 'bulk', 'when to ask before writing: only for bulk writes, or always'),
  'low-stock': wholeNumber(5, 'stock at or below this quantity is marked as low'),
  'max-changes': wholeNumber(undefined, 'refuse a bulk write that would change more rows than this'),
  'max-zero': wholeNumber(undefined, 'refuse a bulk write that would set more rows than this to 0 or below'),
  'read-first': oneOf(
    ['terminal', 'always', 'never'],
    'terminal',
    'when inventory set reads the stock first, so that it shows before and after and can be undone',
  ),
  codes: file('bar codes of your shop: a CSV with code, petId and optionally name, low and units', requireCodesFile),
  'ca-file': file("authorities to trust besides Node's own, in PEM, like NODE_EXTRA_CA_CERTS", async (value) => {
    // Loaded late, because it loads TLS.
    (await import('./authorities.ts')).readAuthorities(value);
  }),
  'state-url': {
    meaning: 'the PostgreSQL database that several machines share as their state, instead of the state folder',
    values: '<url>',
    rule: 'a URL that begins with postgresql://',
    defaultValue: undefined,
    variable: 'PETSTOCK_STATE_URL',
    none: ownState,
    isForAllStores: true,
    isSecret: true,
    parse: parseStateUrl,
    toStore: async (value: string): Promise<string> => {
      const { parseDatabaseUrl, withAbsoluteFiles } = await import('../shared/database-url.ts');
      const url = parseDatabaseUrl(value);
      if (url.ok) return withAbsoluteFiles(value);
      throw new UsageError(`state-url was not changed: ${sentence(url.problem)}`);
    },
  },
  'keep-history': {
    ...wholeNumber(
      undefined,
      'days to keep the history of all stores: each write removes up to 20 older runs without asking',
      'a number of days, such as 365 or 365d',
      /^(\d{1,16})d?$/,
    ),
    values: '<days>',
    isForAllStores: true,
  },
  output: {
    ...oneOf(
      ['table', 'json', 'ndjson', 'csv', 'tsv'],
      undefined,
      'the format if neither -o nor PETSTOCK_OUTPUT is given',
    ),
    variable: 'PETSTOCK_OUTPUT',
  },
} as const satisfies Readonly<Record<string, Setting<never> | Setting<string> | Setting<number>>>;

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;
export type SettingValue<Name extends SettingName = SettingName> = Definitions[Name] extends {
  parse(text: string): Parsed<infer Value>;
}
  ? Value
  : never;

/** The validated settings of the configuration file. A setting that is not set is absent. */
export type StoredSettings = { readonly [Name in SettingName]?: SettingValue<Name> };

export const settingNames = Object.keys(settingDefinitions) as readonly SettingName[];

export function definitionOf(name: SettingName): Setting<SettingValue> {
  return settingDefinitions[name] as unknown as Setting<SettingValue>;
}

/**
 * Reports whether a value in the file is one that petstock itself would store. A path must be absolute, because
 * commands run in any folder.
 */
export function isStorable(name: SettingName, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const { parse, values } = definitionOf(name);
  const read = parse(String(value));
  return read.ok && typeof read.value === typeof value && (values !== '<file>' || path.isAbsolute(String(value)));
}

/** Returns the value of a setting, or its default. Ignores variables. */
export function settingOf<N extends SettingName>(stored: StoredSettings, name: N): SettingValue<N> | undefined {
  return resolveSetting(name, {}, stored)?.value;
}

/**
 * Returns the value in effect: from the setting's variable, the file, or the default; undefined if there is none, or if
 * the variable turns the setting off.
 * @throws UsageError if the variable contains an invalid value
 */
export function resolveSetting<Name extends SettingName>(
  name: Name,
  env: Environment,
  stored: StoredSettings,
): Sourced<SettingValue<Name>> | undefined {
  const { variable: source = '', none, parse, defaultValue } = definitionOf(name);
  const text = variable(env, source);
  const found = (value: unknown, from: string) => ({ value: value as SettingValue<Name>, source: from });
  if (text !== undefined) {
    if (text === none) return undefined;
    const read = parse(text);
    if (!read.ok) throw new UsageError(`${source} is not valid: ${sentence(read.problem)}`);
    return found(read.value, source);
  }
  if (stored[name] !== undefined) return found(stored[name], fromFile);
  return defaultValue === undefined ? undefined : found(defaultValue, 'default');
}

/**
 * @param target the target whose key or URL may be meant, for the hint
 * @throws UsageError for the name of a key or URL, and for an unknown name, with the name that was probably meant
 */
export function settingName(text: string, target: Target = { env: 'staging' }): SettingName {
  const name = settingNames.find((known) => known === text);
  if (name !== undefined) return name;
  const env = remoteEnvironmentNames.find((known) => text.endsWith(known)) ?? target.env;
  const options = targetWords({ ...target, env });
  const isUrl = /(^|[-_.])ur[il]([-_.]|$)/i.test(text) && !/^state/i.test(text);
  if (!isUrl && !/key/i.test(text)) {
    throw new UsageError(
      `Unknown setting ${quoted(text)}.${didYouMean(text, settingNames)} The settings are ${settingNames.join(', ')}.`,
    );
  }
  const [things, command] = /key/i.test(text)
    ? ['Keys', ['set-key']]
    : ['URLs', ['set-url', 'https://<your-store>/v1']];
  throw new UsageError(`${things} are not settings. They have their own command.`, {
    // The sandbox issues its own key, and has no address to set.
    hint: env === 'sandbox' ? 'petstock sandbox info' : petstock`config ${command} ${options}`,
  });
}

/**
 * Parses the name of a store: letters, digits and `-`, because the names of variables contain the name, and
 * `store/environment` names a target.
 */
export function parseStoreName(text: string): Parsed<string> {
  if (environmentNames.some((name) => name === text))
    return problem(`"${text}" is the name of an environment, not of a store`);
  return /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(text) && text.length <= 32
    ? parsed(text)
    : problem(
        'a store name has up to 32 lower-case letters, digits and single hyphens, begins with a letter, and does not end with a hyphen',
      );
}

/**
 * Parses the beginning of a database URL. A complete check takes time that most commands need not spend; the commands
 * that use the URL report other problems.
 */
function parseStateUrl(text: string): Parsed<string> {
  const value = text.trim();
  const isUrl = /^postgres(ql)?:\/\/\S+$/i.test(value);
  return isUrl ? parsed(value) : problem('it must be a URL that begins with postgresql://');
}

function oneOf<const Value extends string>(
  values: readonly Value[],
  defaultValue: NoInfer<Value> | undefined,
  meaning: string,
) {
  const rule = `one of ${values.join(', ')}`;
  const parse = (text: string): Parsed<Value> => {
    const value = values.find((known) => known === text);
    return value === undefined ? problem(`it must be ${rule}.${didYouMean(text, values)}`) : parsed(value);
  };
  return { meaning, values: values.join('|'), rule, defaultValue, parse };
}

/**
 * Returns a setting whose value is a whole number.
 * @param pattern matches the value; its first group contains the digits
 */
function wholeNumber(
  defaultValue: number | undefined,
  meaning: string,
  rule = 'a whole number from 0',
  pattern = /^(\d{1,16})$/,
) {
  const parse = (text: string): Parsed<number> => {
    const value = Number(pattern.exec(text)?.[1] ?? Number.NaN);
    return Number.isSafeInteger(value) ? parsed(value) : problem(`it must be ${rule}`);
  };
  return { meaning, values: '<n>', rule, defaultValue, parse };
}

/**
 * Returns a setting whose value is the path of a file.
 * @param check throws UsageError for a file that can't be used
 */
function file(meaning: string, check: (value: string) => Promise<void> | void) {
  const rule = 'the path of a file';
  const parse = (text: string): Parsed<string> => (text === '' ? problem(`it must be ${rule}`) : parsed(text));
  const toStore = async (value: string): Promise<string> => {
    const absolute = path.resolve(value);
    await check(absolute);
    return absolute;
  };
  return { meaning, values: '<file>', rule, defaultValue: undefined, parse, toStore };
}

function requireCodesFile(value: string): void {
  const stats = statSync(value, { throwIfNoEntry: false });
  if (stats?.isFile()) return;
  const reason = stats === undefined ? `There is no file ${value}` : `${value} is not a file`;
  throw new UsageError(`${reason}. The setting codes was not changed`);
}
