import path from 'node:path';
import { didYouMean } from '../shared/did-you-mean.ts';
import { UsageError } from '../shared/errors.ts';
import { type Where, whereOptions } from '../shared/where.ts';
import { type Environment, type Parsed, type Sourced, variable } from './variables.ts';

/** The places that petstock can talk to. */
export const environmentNames = ['staging', 'production', 'sandbox'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** The environments that keep a key and a URL; the sandbox makes its own. */
export const remoteEnvironmentNames = ['staging', 'production'] as const;
export type RemoteEnvironmentName = (typeof remoteEnvironmentNames)[number];

/** The `source` of a value from the configuration file. */
export const fromFile = 'config file';

/** The name of the store without a name, for `--store`. */
export const unnamedStore = 'default';

/** One setting: where it may come from, how it is read, checked, shown, completed and explained. */
export interface Setting<Value> {
  /** One line for help. */
  readonly meaning: string;
  /** The values, for help and completion: `bulk|always`, `<file>`. */
  readonly values: string;
  /** The rule for a value, for messages: `a whole number from 0`. */
  readonly rule: string;
  /** Undefined: there is no default. */
  readonly defaultValue: Value | undefined;
  /** The environment variable that takes precedence over the file. */
  readonly variable?: string;
  /** The text of the variable that stands for no value, whatever is stored. */
  readonly none?: string;
  /** It is the same for all stores. */
  readonly isForAllStores?: true;
  /** The URL of a database, which may hold a password: it is shown without, and may be given on stdin. */
  readonly isSecret?: true;
  /** Parses typed text. */
  parse(text: string): Parsed<Value>;
  /** Reports whether a value of the file is one that `parse` could have returned. */
  accepts(value: unknown): value is Value;
  /** Returns the value as it is shown; default: as it is. */
  show?(value: Value): string;
  /** Returns the value as it is stored. @throws UsageError if it can't be used on this machine */
  toStore?(value: Value): Promise<Value>;
}

/** Every setting, in the order in which they are listed. Listing, setting, help and completion are read off this table. */
export const settingDefinitions = {
  'default-env': {
    ...oneOf(environmentNames, 'staging', 'the environment if neither --env nor PETSTOCK_ENV names one'),
    variable: 'PETSTOCK_ENV',
  },
  'default-store': { ...storeName(), variable: 'PETSTOCK_STORE', none: unnamedStore, isForAllStores: true },
  confirm: oneOf(['bulk', 'always'], 'bulk', 'which writes ask first: bulk ones, or single ones too'),
  'low-stock': wholeNumber(5, 'a quantity at or below it is marked'),
  'max-changes': wholeNumber(undefined, 'a bulk write that would change more rows is refused'),
  'max-zero': wholeNumber(undefined, 'a bulk write that would set more rows to 0 is refused'),
  'read-first': oneOf(
    ['terminal', 'always', 'never'],
    'terminal',
    'when inventory set reads first, shows before and after, and can be taken back',
  ),
  codes: { ...file('bar codes of this shop: a CSV with code, petId and perhaps name'), toStore: requireRegularFile },
  'ca-file': {
    ...file('authorities that are trusted besides those of Node, in PEM, as NODE_EXTRA_CA_CERTS'),
    // Loaded late, since it brings TLS.
    toStore: async (value: string) => {
      (await import('./authorities.ts')).readAuthorities(value);
      return value;
    },
  },
  'state-url': {
    ...databaseUrl(),
    variable: 'PETSTOCK_STATE_URL',
    none: 'none',
    isForAllStores: true,
    isSecret: true,
  },
  'state-patience': wholeNumber(60, 'seconds that a run waits for the shared database to come back'),
  'keep-history': {
    ...wholeNumber(undefined, 'days that history prune keeps if no option says otherwise'),
    values: '<days>',
    rule: 'a number of days, such as 365 or 365d',
    parse: (text: string) => parseWholeNumber(text.replace(/d$/, ''), 'a number of days, such as 365 or 365d'),
    show: (value: number) => `${value}d`,
  },
  output: oneOf(['table', 'json', 'ndjson', 'csv', 'tsv'], undefined, 'the format if -o names none'),
} as const satisfies Readonly<Record<string, Setting<never> | Setting<string> | Setting<number>>>;

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;
export type SettingValue<Name extends SettingName = SettingName> = Definitions[Name] extends {
  accepts(value: unknown): value is infer Value;
}
  ? Value
  : never;

/** The settings of the configuration file, after validation. Absent means not set. */
export type StoredSettings = { readonly [Name in SettingName]?: SettingValue<Name> };

export const settingNames = Object.keys(settingDefinitions) as readonly SettingName[];

/** Returns the declaration of a setting whose name is not known before it runs. */
export function definitionOf(name: SettingName): Setting<SettingValue> {
  return settingDefinitions[name] as unknown as Setting<SettingValue>;
}

/** Returns the value of a setting, or its default. Variables do not count. */
export function settingOf<Name extends SettingName>(
  stored: StoredSettings,
  name: Name,
): SettingValue<Name> | undefined {
  const { defaultValue } = settingDefinitions[name];
  return (stored[name] ?? defaultValue) as SettingValue<Name> | undefined;
}

/**
 * Returns the value in effect: from the variable of the setting, the file, or the default; undefined if there is none.
 * @throws UsageError if the variable holds a value that can't be used
 */
export function resolveSetting<Name extends SettingName>(
  name: Name,
  env: Environment,
  stored: StoredSettings,
): Sourced<SettingValue<Name>> | undefined {
  const { variable: source, none, parse, defaultValue } = definitionOf(name);
  const text = source === undefined ? undefined : variable(env, source);
  if (source !== undefined && text !== undefined) {
    if (text === none) return undefined;
    const parsed = parse(text);
    if (!parsed.ok) throw new UsageError(`${source} cannot be used: ${sentence(parsed.fault)}`);
    return { value: parsed.value as SettingValue<Name>, source };
  }
  const value = stored[name];
  if (value !== undefined) return { value, source: fromFile };
  return defaultValue === undefined ? undefined : { value: defaultValue as SettingValue<Name>, source: 'default' };
}

/**
 * Returns the setting of that name.
 * @param where whose key or URL is meant, for the command that the error points to
 * @throws UsageError for an unknown name, or one of a key or URL, with the name that was probably meant
 */
export function settingName(text: string, where: Where = { env: 'staging' }): SettingName {
  const name = settingNames.find((known) => known === text);
  if (name !== undefined) return name;
  const env = remoteEnvironmentNames.find((known) => text.endsWith(known)) ?? where.env;
  const options = whereOptions({ ...where, env });
  if (/key/i.test(text)) {
    throw new UsageError('Keys are not settings: they have a command of their own.', {
      hint: `petstock config set-key ${options}`,
    });
  }
  if (/(^|[-_.])ur[il]([-_.]|$)/i.test(text) && !/^state/i.test(text)) {
    throw new UsageError('URLs are not settings: they have a command of their own.', {
      hint: `petstock config set-url https://host/v1 ${options}`,
    });
  }
  throw new UsageError(
    `Unknown setting${quoted(text)}.${didYouMean(text, settingNames)} There are ${settingNames.join(', ')}.`,
  );
}

/** Returns ` "name"` for a message, or nothing: a text that could be a mistyped key is not repeated. */
export function quoted(text: string): string {
  return /^[a-z][a-z._-]{0,23}$/i.test(text) ? ` "${text}"` : '';
}

/** Returns the text with a period unless it ends a sentence. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Parses the name of a store: letters, digits and `-`, since variables are made of it and `store/environment` names a place. */
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

function oneOf<const Value extends string>(
  values: readonly Value[],
  defaultValue: NoInfer<Value> | undefined,
  meaning: string,
) {
  const accepts = (value: unknown): value is Value => values.some((known) => known === value);
  const rule = `one of ${values.join(', ')}`;
  const parse = (text: string): Parsed<Value> =>
    accepts(text) ? { ok: true, value: text } : { ok: false, fault: `it must be ${rule}.${didYouMean(text, values)}` };
  return { meaning, values: values.join('|'), rule, defaultValue, accepts, parse };
}

function wholeNumber(defaultValue: number | undefined, meaning: string) {
  const rule = 'a whole number from 0';
  const accepts = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  return { meaning, values: '<n>', rule, defaultValue, accepts, parse: (text: string) => parseWholeNumber(text, rule) };
}

function parseWholeNumber(text: string, rule: string): Parsed<number> {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? { ok: true, value } : { ok: false, fault: `it must be ${rule}` };
}

/** A path is stored as an absolute one: another command may run in another folder. */
function file(meaning: string) {
  const rule = 'the path of a file';
  const accepts = (value: unknown): value is string => typeof value === 'string' && path.isAbsolute(value);
  const parse = (text: string): Parsed<string> =>
    text === '' ? { ok: false, fault: `it must be ${rule}` } : { ok: true, value: path.resolve(text) };
  return { meaning, values: '<file>', rule, defaultValue: undefined, accepts, parse };
}

async function requireRegularFile(value: string): Promise<string> {
  const { stat } = await import('node:fs/promises');
  const stats = await stat(value).catch(() => undefined);
  if (stats?.isFile()) return value;
  throw new UsageError(stats === undefined ? `There is no file ${value}` : `${value} is not a file`);
}

function storeName() {
  const accepts = (value: unknown): value is string => typeof value === 'string' && parseStoreName(value).ok;
  return {
    meaning: 'the store if neither --store nor PETSTOCK_STORE names one',
    values: '<store>',
    rule: 'the name of a store',
    defaultValue: undefined,
    accepts,
    parse: parseStoreName,
  };
}

/** The commands that use it find other faults; reading it completely takes time that most commands do not need. */
function databaseUrl() {
  const rule = 'a URL that begins with postgresql://';
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' && /^postgres(ql)?:\/\/\S+$/i.test(value);
  const parse = (text: string): Parsed<string> => {
    const value = text.trim();
    return accepts(value) ? { ok: true, value } : { ok: false, fault: `it must be ${rule}` };
  };
  return {
    meaning: 'the PostgreSQL database that several machines share as their state, instead of the state folder',
    values: '<url>',
    rule,
    defaultValue: undefined,
    accepts,
    parse,
    toStore: async (value: string): Promise<string> => {
      const { parseDatabaseUrl, withAbsoluteFiles } = await import('../shared/database-url.ts');
      const parsed = parseDatabaseUrl(value);
      if (parsed.ok) return withAbsoluteFiles(value);
      throw new UsageError(`state-url was not changed: ${sentence(parsed.fault)}`);
    },
  };
}
