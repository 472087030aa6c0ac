import { didYouMean } from '../shared/did-you-mean.ts';
import { UsageError } from '../shared/errors.ts';
import { parseBaseUrl } from './base-url.ts';
import { parseCommandLine } from './command-line.ts';
import { parseKey } from './keys.ts';
import { type SettingName, type SettingValue, settingDefinitions, settingNames } from './names.ts';
import type { Parsed } from './parsed.ts';
import {
  type ConfigFile,
  type KeyCommand,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type StoredSettings,
  type StoredStore,
} from './settings.ts';
import { parseStoreName } from './stores.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A later petstock that changes what the parts mean gives its files a later version. A file without one is of this one. */
const knownVersion = 1;

/**
 * Checks what the configuration file holds: `{"settings":{…},"keys":{…},"urls":{…},"keyOrigins":{…},"keyCommands":{…},
 * "stores":{"north":{…}}}`, each part optional, and a store has the same parts but `stores`. Other parts are left alone, so
 * that a newer petstock may add some; a file of a later version is refused. An unknown setting is a fault: a misspelt guard that silently does nothing would be
 * worse than an error.
 *
 * @throws UsageError that names the file and the fault, and never repeats a key
 */
export function decodeConfig(value: unknown, file: string): ConfigFile {
  const content = object(value, 'the file', file);
  requireKnownVersion(content.version, file);
  const stores: Record<string, StoredStore> = {};
  for (const [name, stored] of Object.entries(object(content.stores ?? {}, '"stores"', file))) {
    const parsed = parseStoreName(name);
    if (!parsed.ok) throw fault(file, `"stores" has a name that cannot be used: ${parsed.fault}.`);
    stores[name] = decodeStore(object(stored, `"stores"."${name}"`, file), file);
  }
  return { ...decodeStore(content, file), stores };
}

function decodeStore(content: JsonObject, file: string): StoredStore {
  const part = <Value>(name: string, decode: (value: unknown) => Parsed<Value>) =>
    decodeByEnvironment(object(content[name] ?? {}, `"${name}"`, file), name, decode, file);
  const keys = part('keys', text(parseKey));
  const keyOrigins = part('keyOrigins', text(parseOrigin));
  const keyCommands = part('keyCommands', parseKeyCommand);
  return {
    settings: decodeSettings(object(content.settings ?? {}, '"settings"', file), file),
    keys,
    urls: part('urls', text(parseBaseUrl)),
    ...(Object.keys(keyOrigins).length > 0 && { keyOrigins }),
    ...(Object.keys(keyCommands).length > 0 && { keyCommands }),
  };
}

function requireKnownVersion(version: unknown, file: string): void {
  if (version === undefined || version === knownVersion) return;
  const which = typeof version === 'number' ? ` (version ${version}, and this one knows ${knownVersion})` : '';
  throw new UsageError(
    `The configuration file ${file} was written by a later petstock${which}. Install that, or move the file away and set up ` +
      'again; petstock did not change it.',
  );
}

function decodeSettings(stored: JsonObject, file: string): StoredSettings {
  const decoded: { [Name in SettingName]?: SettingValue<Name> } = {};
  const read = <Name extends SettingName>(name: Name, value: unknown) => {
    const { accepts, rule } = settingDefinitions[name];
    if (!accepts(value)) throw fault(file, `the setting "${name}" must be ${rule}.`);
    Object.assign(decoded, { [name]: value });
  };
  for (const [name, value] of Object.entries(stored)) {
    const known = settingNames.find((candidate) => candidate === name);
    if (known === undefined) throw fault(file, `"${name}" is not a setting.${didYouMean(name, settingNames)}`);
    read(known, value);
  }
  return decoded;
}

function decodeByEnvironment<Value>(
  stored: JsonObject,
  part: string,
  decode: (value: unknown) => Parsed<Value>,
  file: string,
): Partial<Record<RemoteEnvironmentName, Value>> {
  const decoded: Partial<Record<RemoteEnvironmentName, Value>> = {};
  for (const name of remoteEnvironmentNames) {
    const value = stored[name];
    if (value === undefined) continue;
    const parsed = decode(value);
    if (!parsed.ok) throw fault(file, `"${part}"."${name}" cannot be used: ${parsed.fault}.`);
    decoded[name] = parsed.value;
  }
  return decoded;
}

function text(parse: (text: string) => Parsed<string>): (value: unknown) => Parsed<string> {
  return (value) => (typeof value === 'string' ? parse(value) : { ok: false, fault: 'it must be a text' });
}

function parseKeyCommand(value: unknown): Parsed<KeyCommand> {
  if (typeof value === 'object' && value !== null && 'command' in value && typeof value.command === 'string') {
    const shell = 'shell' in value && value.shell === true;
    const words = shell ? { ok: true as const } : parseCommandLine(value.command);
    return words.ok ? { ok: true, value: { command: value.command, shell } } : words;
  }
  return { ok: false, fault: 'it must be an object with a "command"' };
}

function parseOrigin(text: string): Parsed<string> {
  const isOrigin = URL.canParse(text) && new URL(text).origin === text;
  return isOrigin ? { ok: true, value: text } : { ok: false, fault: 'it must be an origin, such as https://host' };
}

function object(value: unknown, what: string, file: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw fault(file, `${what} must be a JSON object.`);
}

function fault(file: string, words: string): UsageError {
  return new UsageError(`In the configuration file ${file}, ${words} Edit the file; petstock did not change it.`);
}
