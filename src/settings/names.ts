import path from 'node:path';
import { didYouMean } from '../shared/did-you-mean.ts';
import { UsageError } from '../shared/errors.ts';
import type { Parsed } from './parsed.ts';
import { environmentNames, remoteEnvironmentNames, type StoredSettings } from './settings.ts';
import { parseStoreName } from './stores.ts';

export type SettingName = keyof StoredSettings;
export type SettingValue<Name extends SettingName = SettingName> = NonNullable<StoredSettings[Name]>;

/** One setting that `config set` takes. */
export interface SettingDefinition<Name extends SettingName = SettingName> {
  /** One line for help. */
  readonly meaning: string;
  /** What may be given, for help: `bulk|always`. */
  readonly values: string;
  /** What a value must be, for messages: `a whole number from 0`. */
  readonly rule: string;
  /** undefined: there is no default. */
  readonly defaultValue: SettingValue<Name> | undefined;
  /** It may hold a password: it is shown without, and may be given on stdin. */
  readonly isSecret?: boolean;
  /** Reads what was typed. */
  parse(text: string): Parsed<SettingValue<Name>>;
  /** Is this, from the file, a value that `parse` could have given? */
  accepts(value: unknown): value is SettingValue<Name>;
}

/** Every setting, in the order in which they are listed. */
export const settingDefinitions: { readonly [Name in SettingName]: SettingDefinition<Name> } = {
  'default-env': oneOf(environmentNames, 'staging', 'the environment where neither --env nor PETSTOCK_ENV names one'),
  'default-store': storeName('the store where neither --store nor PETSTOCK_STORE names one'),
  confirm: oneOf(['bulk', 'always'], 'bulk', 'which writes ask first: bulk ones, or single ones too'),
  'low-stock': wholeNumber(5, 'at or below it a quantity is marked'),
  'max-changes': wholeNumber(undefined, 'a bulk write that would change more rows is refused'),
  'max-zero': wholeNumber(undefined, 'a bulk write that would set more rows to 0 is refused'),
  'read-first': oneOf(
    ['terminal', 'always', 'never'],
    'terminal',
    'when inventory set reads first, shows before and after, and can be undone',
  ),
  codes: file('bar codes of this shop, CSV with code, petId and perhaps name'),
  'ca-file': file('authorities that are trusted besides those of Node, in PEM, as NODE_EXTRA_CA_CERTS'),
  'state-url': databaseUrl(
    'the PostgreSQL database that several machines share as their state, in place of the state folder',
  ),
  'state-patience': wholeNumber(60, 'seconds that a run waits for the shared database to come back'),
  'keep-history': wholeNumber(undefined, 'days that history prune keeps if no option says otherwise'),
  output: oneOf(['table', 'json', 'ndjson', 'csv', 'tsv'], undefined, 'the format where -o does not name one'),
};

export const settingNames = Object.keys(settingDefinitions) as readonly SettingName[];

/** Returns the value of a setting, or its default. */
export function settingOf<Name extends SettingName>(
  stored: StoredSettings,
  name: Name,
): SettingValue<Name> | undefined {
  return (stored[name] as SettingValue<Name> | undefined) ?? settingDefinitions[name].defaultValue;
}

/**
 * The setting of that name.
 * @param environment whose key or URL is meant, for the command that the error points to
 * @throws UsageError for an unknown name, or one of a key or URL, with what was probably meant
 */
export function settingName(text: string, environment: string = 'staging'): SettingName {
  const name = settingNames.find((known) => known === text);
  if (name !== undefined) return name;
  const meant = remoteEnvironmentNames.find((known) => text.endsWith(known)) ?? environment;
  if (/key/i.test(text)) {
    throw new UsageError('Keys are not settings: they have a command of their own.', {
      hint: `petstock config set-key --env ${meant}`,
    });
  }
  if (/(^|[-_.])ur[il]([-_.]|$)/i.test(text) && !/^state/i.test(text)) {
    throw new UsageError('URLs are not settings: they have a command of their own.', {
      hint: `petstock config set-url https://host/v1 --env ${meant}`,
    });
  }
  throw new UsageError(
    `Unknown setting${quoted(text)}.${didYouMean(text, settingNames)} There are ${settingNames.join(', ')}.`,
  );
}

/** ` "name"` for a message, or nothing: what could be a mistyped key is not repeated. */
export function quoted(text: string): string {
  return /^[a-z][a-z._-]{0,23}$/i.test(text) ? ` "${text}"` : '';
}

function oneOf<const Value extends string>(
  values: readonly Value[],
  defaultValue: NoInfer<Value> | undefined,
  meaning: string,
) {
  const accepts = (value: unknown): value is Value => values.some((known) => known === value);
  const rule = `one of ${values.join(', ')}`;
  return {
    meaning,
    values: values.join('|'),
    rule,
    defaultValue,
    accepts,
    parse: (text: string): Parsed<Value> =>
      accepts(text)
        ? { ok: true, value: text }
        : { ok: false, fault: `it must be ${rule}.${didYouMean(text, values)}` },
  };
}

/** A path is kept as an absolute one: another command may run in another folder. */
function file(meaning: string) {
  const accepts = (value: unknown): value is string => typeof value === 'string' && path.isAbsolute(value);
  return {
    meaning,
    values: '<file>',
    rule: 'the path of a file',
    defaultValue: undefined,
    accepts,
    parse: (text: string): Parsed<string> =>
      text === '' ? { ok: false, fault: 'it must be the path of a file.' } : { ok: true, value: path.resolve(text) },
  };
}

function storeName(meaning: string) {
  const accepts = (value: unknown): value is string => typeof value === 'string' && parseStoreName(value).ok;
  return {
    meaning,
    values: '<name>',
    rule: 'the name of a store',
    defaultValue: undefined,
    accepts,
    parse: (text: string): Parsed<string> => {
      const parsed = parseStoreName(text);
      return parsed.ok ? parsed : { ok: false, fault: `${parsed.fault}.` };
    },
  };
}

/** What else is wrong with one is said when it is set, and when it is used: reading it takes what most commands do without. */
function databaseUrl(meaning: string) {
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' && /^postgres(ql)?:\/\/\S+$/i.test(value);
  const rule = 'a URL that begins with postgresql://';
  return {
    meaning,
    values: '<url>',
    rule,
    defaultValue: undefined,
    isSecret: true,
    accepts,
    parse: (text: string): Parsed<string> => {
      const value = text.trim();
      return accepts(value) ? { ok: true, value } : { ok: false, fault: `it must be ${rule}.` };
    },
  };
}

function wholeNumber(defaultValue: number | undefined, meaning: string) {
  const accepts = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  const rule = 'a whole number from 0';
  return {
    meaning,
    values: '<n>',
    rule,
    defaultValue,
    accepts,
    parse: (text: string): Parsed<number> => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return accepts(value) ? { ok: true, value } : { ok: false, fault: `it must be ${rule}.` };
    },
  };
}
