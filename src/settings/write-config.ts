import { FailureError, PetstockError } from '../shared/errors.ts';
import { makePrivateFolder } from '../shared/private-folder.ts';
import { configFile, readConfig } from './config-file.ts';
import { originOfKey, requireUrlOfKey } from './key-origin.ts';
import type { SettingName, SettingValue } from './names.ts';
import type { RemoteEnvironmentName, StoredConfig } from './settings.ts';

/** @throws UsageError where the present file makes no sense, FailureError where the file cannot be written; so do all below. */
export function setSetting<Name extends SettingName>(
  folder: string,
  name: Name,
  value: SettingValue<Name>,
): Promise<void> {
  return edit(folder, () => ({ settings: value }), name);
}

/** Not set before: changes nothing. */
export function unsetSetting(folder: string, name: SettingName): Promise<void> {
  return edit(folder, () => ({ settings: undefined }), name);
}

/**
 * @param key as `parseKey` gave it
 * @param url where it may be sent, as `parseBaseUrl` gave it; undefined where no address is known yet
 */
export function setKey(
  folder: string,
  name: RemoteEnvironmentName,
  key: string,
  url?: string | undefined,
): Promise<void> {
  return edit(folder, () => ({ keys: key, keyOrigins: originOf(url) }), name);
}

/** Stores a key and the URL that it belongs to. */
export function setKeyAndUrl(folder: string, name: RemoteEnvironmentName, key: string, url: string): Promise<void> {
  return edit(folder, () => ({ keys: key, urls: url, keyOrigins: originOf(url) }), name);
}

export function unsetKey(folder: string, name: RemoteEnvironmentName): Promise<void> {
  return edit(folder, () => ({ keys: undefined, keyOrigins: undefined }), name);
}

/**
 * A key that was stored before any address was known is bound to this one.
 *
 * @param url as `parseBaseUrl` gave it
 * @throws AuthError where the stored key belongs to another origin
 */
export function setUrl(folder: string, name: RemoteEnvironmentName, url: string): Promise<void> {
  return edit(
    folder,
    (config) => {
      requireUrlOfKey(name, url, config);
      return { urls: url, keyOrigins: config.keys[name] === undefined ? undefined : originOf(url) };
    },
    name,
  );
}

/** The stored key stays bound to the origin that it had. */
export function unsetUrl(folder: string, name: RemoteEnvironmentName): Promise<void> {
  return edit(folder, (config) => ({ urls: undefined, keyOrigins: originOfKey(name, config) }), name);
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).origin;
}

type PartName = 'settings' | 'keys' | 'urls' | 'keyOrigins';
type Value = string | number | boolean | undefined;
type Part = Record<string, string | number | boolean>;
/** What becomes of one name in each part; undefined takes it away, a part that is not here stays as it is. */
type Edits = Readonly<Partial<Record<PartName, Value>>>;

/**
 * Changes what is stored under one name, in one write, and leaves everything else in the file as it is. conf writes to a new
 * file and renames it, so that a reader, a crash or a second writer never meets half a file; of two writers at once, the later
 * one's file stays.
 */
async function edit(folder: string, editsFor: (config: StoredConfig) => Edits, name: string): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    makePrivateFolder(folder);
    const edits = Object.entries(editsFor(readConfig(folder).config)) as [PartName, Value][];
    // Without dot notation: names are names, not paths.
    const conf = new Conf<Partial<Record<PartName, Part>>>({
      cwd: folder,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      deserialize: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
    });
    const before = conf.store;
    const changed = edits.filter(([part, value]) => before[part]?.[name] !== value);
    if (changed.length > 0)
      conf.store = changed.reduce((store, [part, value]) => withValue(store, part, name, value), before);
  } catch (error) {
    if (error instanceof PetstockError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FailureError(
      `The configuration file ${configFile(folder)} could not be written: ${reason}. It is as it was before.`,
      { cause: error },
    );
  }
}

function withValue(
  store: Partial<Record<PartName, Part>>,
  part: PartName,
  name: string,
  value: Value,
): Partial<Record<PartName, Part>> {
  const { [name]: _before, ...others } = store[part] ?? {};
  return { ...store, [part]: value === undefined ? others : { ...others, [name]: value } };
}
