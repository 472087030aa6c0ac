import path from 'node:path';
import { PetstockError, readErrorReason, systemCode, UsageError } from '../shared/errors.ts';
import { didYouMean } from '../shared/hint.ts';
import { type Parsed, parsed, problem, sentence } from '../shared/parsed.ts';
import { findPrivateFile, requirePrivateFolder, withFolderHint } from '../shared/private-files.ts';
import { plainName } from '../shared/sanitize.ts';
import { parseBaseUrl, parseKey } from './key-and-url.ts';
import {
  definitionOf,
  isStorable,
  parseStoreName,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type StoredSettings,
  settingNames,
} from './settings.ts';

export interface KeyCommand {
  /** The command as it was typed, such as `pass show petstock`, but with an absolute path instead of a relative one. */
  readonly command: string;
  /** Whether the system's shell runs it. Otherwise the program is started directly, and nothing is expanded. */
  readonly shell: boolean;
}

type ByEnvironment<Value> = Readonly<Partial<Record<RemoteEnvironmentName, Value>>>;

/**
 * The keys and URLs of one store, by environment, and its settings. petstock stores a key or a command for an
 * environment, never both. If a file has both, the command counts.
 */
export interface StoredStore {
  /** The settings of the store without a name apply to all stores; those of a named store override them. */
  readonly settings: StoredSettings;
  readonly keys: ByEnvironment<string>;
  readonly urls: ByEnvironment<string>;
  /** The origin that each key was stored for. Absent if the key was stored before any URL, or written by hand. */
  readonly keyOrigins: ByEnvironment<string>;
  readonly keyCommands: ByEnvironment<KeyCommand>;
}

/** The whole configuration file: the store without a name, and the named ones. */
export interface ConfigFile extends StoredStore {
  readonly stores: Readonly<Record<string, StoredStore>>;
}

/** The part that applies to one store. It contains no key or URL of another store, so that they can't be mixed up. */
export interface StoredConfig extends StoredStore {
  /** The name of the store; undefined for the store without a name. */
  readonly store: string | undefined;
}

const emptyStore: StoredStore = { settings: {}, keys: {}, urls: {}, keyOrigins: {}, keyCommands: {} };
export const emptyConfig: ConfigFile = { ...emptyStore, stores: {} };

export interface ReadConfig {
  readonly config: ConfigFile;
  /** Warnings, because others could read the file, or because it contains names that have no effect. */
  readonly warnings: readonly string[];
}

export function configFile(folder: string): string {
  return path.join(folder, 'config.json');
}

function storedStore(file: ConfigFile, store: string | undefined): StoredStore {
  if (store === undefined) return file;
  return (Object.hasOwn(file.stores, store) && file.stores[store]) || emptyStore;
}

export function configOf(file: ConfigFile, store: string | undefined): StoredConfig {
  const { settings, keys, urls, keyOrigins, keyCommands } = storedStore(file, store);
  return { settings: { ...file.settings, ...settings }, keys, urls, keyOrigins, keyCommands, store };
}

/**
 * Reads and checks the configuration; a missing file counts as empty. A file that others can read is made private
 * (0600, except on Windows). A symbolic link of this user is followed.
 * @throws FailureError if the folder or the file belongs to another user (except root, and for root), or others can write
 * to it; UsageError that names the file and the problem if it can't be read or is not valid; the file stays unchanged
 */
export async function readConfig(folder: string): Promise<ReadConfig> {
  const found = await readContent(folder);
  if (found === undefined) return { config: emptyConfig, warnings: [] };
  const file = configFile(folder);
  const unknown: string[] = [];
  const config = decodeConfig(found.content, file, unknown);
  const warnings = found.warning === undefined ? [] : [found.warning];
  return { config, warnings: [...warnings, ...unknown.map((words) => `In the configuration file ${file}, ${words}`)] };
}

/**
 * Returns the content of the file without checking its parts; undefined if there is no file.
 * @throws the errors of `readConfig`
 */
export async function readContent(folder: string) {
  const file = configFile(folder);
  try {
    requirePrivateFolder(folder);
    const found = findPrivateFile(file);
    return found && { content: (await openConf(found.path)).store, warning: found.warning };
  } catch (error) {
    if (error instanceof PetstockError) throw withFolderHint(error, 'config', folder);
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    // The message of the parser quotes the text, which may contain a key.
    if (error instanceof SyntaxError) {
      throw new UsageError(
        `The configuration file ${file} is not valid JSON. petstock did not change it. Correct it, or move it away and set up petstock again.`,
      );
    }
    throw new UsageError(`The configuration file ${file} can't be read: ${readErrorReason(error)}.`, { cause: error });
  }
}

/**
 * Opens the file with conf, which reads what it writes. On Node 20 to 26, loading it takes 5 to 7 % of the CPU of
 * `inventory list`; without a file, nothing is loaded.
 */
export async function openConf(file: string) {
  const { default: Conf } = await import('conf');
  return new Conf<JsonObject>({
    cwd: path.dirname(file),
    configName: path.basename(file),
    fileExtension: '',
    configFileMode: 0o600,
    // Names are used as they are, not as paths.
    accessPropertiesByDotNotation: false,
    deserialize: (text) => object(JSON.parse(text.replace(/^\uFEFF/, '')), 'the file', file),
  });
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The version of the file. A later petstock that changes the meaning of the parts writes a later version. A file
 * without a version counts as this version.
 */
const knownVersion = 1;

/**
 * Checks the content of the configuration file:
 * `{"settings":{…},"keys":{…},"urls":{…},"keyOrigins":{…},"keyCommands":{…}, "stores":{"north":{…}}}`. Each part is
 * optional, and a store has the same parts except `stores`. Other parts are ignored, so that a newer petstock may add
 * some; a file of a later version is rejected.
 * @param unknown receives a line for each setting that is unknown or misplaced, and for each misspelt part
 * @throws UsageError that names the file and the problem, and never repeats a key
 */
export function decodeConfig(value: unknown, file: string, unknown: string[] = []): ConfigFile {
  const content = object(value, 'the file', file);
  requireKnownVersion(content.version, file);
  const stores = Object.entries(object(content.stores ?? {}, '"stores"', file)).map(([name, stored]) => {
    const read = parseStoreName(name);
    if (!read.ok) throw faultyFile(file, `"stores" has a name that is not valid: ${read.problem}.`);
    return [name, decodeStore(object(stored, `"stores"."${name}"`, file), file, unknown)] as const;
  });
  return { ...decodeStore(content, file, unknown), stores: Object.fromEntries(stores) };
}

/** The names of the parts of the file. `stores` and `version` occur only at the top level. */
const parts = ['settings', 'keys', 'urls', 'keyOrigins', 'keyCommands', 'stores'];
const isPart = (name: string) => name === 'version' || parts.includes(name);

function decodeStore(content: JsonObject, file: string, unknown: string[]): StoredStore {
  const part = <Value>(name: string, decode: (value: unknown) => Parsed<Value>): ByEnvironment<Value> => {
    const stored = object(content[name] ?? {}, `"${name}"`, file);
    const decoded: Partial<Record<RemoteEnvironmentName, Value>> = {};
    for (const environment of remoteEnvironmentNames) {
      if (stored[environment] === undefined) continue;
      const read = decode(stored[environment]);
      if (!read.ok) throw faultyFile(file, `"${name}"."${environment}" is not valid: ${read.problem}.`);
      decoded[environment] = read.value;
    }
    return decoded;
  };
  const settings = decodeSettings(object(content.settings ?? {}, '"settings"', file), file, unknown);
  const misplaced = settingNames.filter((name) => Object.hasOwn(content, name));
  unknown.push(...misplaced.map((name) => `"${name}" has no effect outside "settings".`));
  // A newer petstock may have more parts: a name that resembles no known part is ignored.
  for (const name of Object.keys(content).filter((key) => !isPart(key) && !misplaced.some((known) => known === key))) {
    const meant = didYouMean(name, parts);
    if (meant !== '') unknown.push(`"${plainName(name)}" is not a known part and has no effect.${meant}`);
  }
  return {
    settings,
    keys: part('keys', text(parseKey)),
    urls: part('urls', text(parseBaseUrl)),
    keyOrigins: part('keyOrigins', text(parseOrigin)),
    keyCommands: part('keyCommands', parseKeyCommand),
  };
}

function requireKnownVersion(version: unknown, file: string): void {
  if (version === undefined || version === knownVersion) return;
  if (!(Number.isSafeInteger(version) && Number(version) > knownVersion))
    throw faultyFile(file, `"version" must be ${knownVersion}.`);
  throw new UsageError(
    `The configuration file ${file} was written by a later petstock (file version ${version}; this petstock supports ` +
      `version ${knownVersion}). petstock did not change it. Install the later petstock, or move the file away and set up petstock again.`,
  );
}

function decodeSettings(stored: JsonObject, file: string, unknown: string[]): StoredSettings {
  const known = Object.entries(stored).filter(([text, value]) => {
    const name = settingNames.find((setting) => setting === text);
    if (name === undefined)
      unknown.push(`"${plainName(text)}" is not a setting and has no effect.${didYouMean(text, settingNames)}`);
    else if (!isStorable(name, value))
      throw faultyFile(file, `the setting "${name}" must be ${ruleInFile(definitionOf(name))}.`);
    return name !== undefined;
  });
  return Object.fromEntries(known);
}

function ruleInFile({ values, rule }: ReturnType<typeof definitionOf>): string {
  if (values === '<file>') return 'the absolute path of a file';
  return values === '<n>' || values === '<days>' ? 'a whole number from 0, without quotes' : rule;
}

function text(parse: (text: string) => Parsed<string>): (value: unknown) => Parsed<string> {
  return (value) => (typeof value === 'string' ? parse(value) : problem('it must be text, in quotes'));
}

function parseKeyCommand(value: unknown): Parsed<KeyCommand> {
  const { command, shell } = (value ?? {}) as Partial<Record<keyof KeyCommand, unknown>>;
  if (typeof command !== 'string') return problem('it must be an object with a "command"');
  return parsed({ command, shell: shell === true });
}

function parseOrigin(text: string): Parsed<string> {
  const isOrigin = URL.canParse(text) && new URL(text).origin === text;
  return isOrigin ? parsed(text) : problem('it must be an origin, such as https://host');
}

function object(value: unknown, what: string, file: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw faultyFile(file, `${what} must be a JSON object.`);
}

function faultyFile(file: string, words: string): UsageError {
  return new UsageError(
    `In the configuration file ${file}, ${sentence(words)} petstock did not change it. Edit the file.`,
  );
}
