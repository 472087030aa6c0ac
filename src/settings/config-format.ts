import { didYouMean } from '../shared/did-you-mean.ts';
import { UsageError } from '../shared/errors.ts';
import { parseBaseUrl } from './base-url.ts';
import { parseKey } from './keys.ts';
import { type SettingName, type SettingValue, settingDefinitions, settingNames } from './names.ts';
import type { Parsed } from './parsed.ts';
import {
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type StoredConfig,
  type StoredSettings,
} from './settings.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Checks what the configuration file holds: `{"settings":{…},"keys":{…},"urls":{…},"keyOrigins":{…}}`, each part
 * optional. Other parts
 * are left alone, so that a newer petstock may add some. An unknown setting is a fault: a misspelt guard that silently
 * does nothing would be worse than an error.
 *
 * @throws UsageError that names the file and the fault, and never repeats a key
 */
export function decodeConfig(value: unknown, file: string): StoredConfig {
  const content = object(value, 'the file', file);
  const origins = object(content.keyOrigins ?? {}, '"keyOrigins"', file);
  const keyOrigins = decodeByEnvironment(origins, 'keyOrigins', parseOrigin, file);
  return {
    settings: decodeSettings(object(content.settings ?? {}, '"settings"', file), file),
    keys: decodeByEnvironment(object(content.keys ?? {}, '"keys"', file), 'keys', parseKey, file),
    urls: decodeByEnvironment(object(content.urls ?? {}, '"urls"', file), 'urls', parseBaseUrl, file),
    ...(Object.keys(keyOrigins).length > 0 && { keyOrigins }),
  };
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

function decodeByEnvironment(
  stored: JsonObject,
  part: 'keys' | 'urls' | 'keyOrigins',
  parse: (text: string) => Parsed<string>,
  file: string,
): Partial<Record<RemoteEnvironmentName, string>> {
  const decoded: Partial<Record<RemoteEnvironmentName, string>> = {};
  for (const name of remoteEnvironmentNames) {
    const value = stored[name];
    if (value === undefined) continue;
    const parsed: Parsed<string> = typeof value === 'string' ? parse(value) : { ok: false, fault: 'it must be a text' };
    if (!parsed.ok) throw fault(file, `"${part}"."${name}" cannot be used: ${parsed.fault}.`);
    decoded[name] = parsed.value;
  }
  return decoded;
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
