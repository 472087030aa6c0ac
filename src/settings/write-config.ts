import { FailureError, PetstockError } from '../shared/errors.ts';
import { makePrivateFolder } from '../shared/private-folder.ts';
import { configFile, readConfig } from './config-file.ts';
import { originOfKey, requireUrlOfKey } from './key-origin.ts';
import type { SettingName, SettingValue } from './names.ts';
import type { KeyCommand, RemoteEnvironmentName, StoredConfig } from './settings.ts';
import { configOf } from './stores.ts';

/** Whose part of the configuration file is changed. */
export interface ConfigPlace {
  /** The folder of the configuration. */
  readonly folder: string;
  /** Undefined: the store without a name; its settings are those of all stores. */
  readonly store: string | undefined;
}

/** The key and the URL of one environment. */
export interface RemotePlace extends ConfigPlace {
  readonly environment: RemoteEnvironmentName;
}

/** @throws UsageError where the present file makes no sense, FailureError where the file cannot be written; so do all below. */
export function setSetting<Name extends SettingName>(
  place: ConfigPlace,
  name: Name,
  value: SettingValue<Name>,
): Promise<void> {
  return edit(place, name, () => ({ settings: value }));
}

/** Not set before: changes nothing. */
export function unsetSetting(place: ConfigPlace, name: SettingName): Promise<void> {
  return edit(place, name, () => ({ settings: undefined }));
}

/** A key as `parseKey` gave it, or the command that prints one. */
export type Credential = string | KeyCommand;

/**
 * Stores a key, or a command that prints one, in the place of what was there.
 * @param url where the key may be sent, as `parseBaseUrl` gave it; undefined where no address is known yet
 */
export function setKey(place: RemotePlace, key: Credential, url?: string | undefined): Promise<void> {
  return edit(place, place.environment, () => ({ ...credentialEdits(key), keyOrigins: originOf(url) }));
}

/** Stores a key and the URL that it belongs to. */
export function setKeyAndUrl(place: RemotePlace, key: Credential, url: string): Promise<void> {
  return edit(place, place.environment, () => ({ ...credentialEdits(key), urls: url, keyOrigins: originOf(url) }));
}

export function unsetKey(place: RemotePlace): Promise<void> {
  return edit(place, place.environment, () => ({ keys: undefined, keyCommands: undefined, keyOrigins: undefined }));
}

/**
 * A key that was stored before any address was known is bound to this one.
 *
 * @param url as `parseBaseUrl` gave it
 * @throws AuthError where the stored key belongs to another origin
 */
export function setUrl(place: RemotePlace, url: string): Promise<void> {
  const { environment } = place;
  return edit(place, environment, (config) => {
    requireUrlOfKey(environment, url, config);
    const hasKey = config.keys[environment] !== undefined || config.keyCommands?.[environment] !== undefined;
    return { urls: url, keyOrigins: hasKey ? originOf(url) : undefined };
  });
}

/** The stored key stays bound to the origin that it had. */
export function unsetUrl(place: RemotePlace): Promise<void> {
  const { environment } = place;
  return edit(place, environment, (config) => ({ urls: undefined, keyOrigins: originOfKey(environment, config) }));
}

function credentialEdits(key: Credential): Edits {
  return typeof key === 'string' ? { keys: key, keyCommands: undefined } : { keys: undefined, keyCommands: key };
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).origin;
}

type PartName = 'settings' | 'keys' | 'urls' | 'keyOrigins' | 'keyCommands';
type Value = string | number | boolean | KeyCommand;
type Parts = Partial<Record<PartName, Record<string, Value>>>;
/** The file, as far as it is written here: the parts of the store without a name, and those of each other. */
type Content = Parts & { readonly stores?: Record<string, Parts> };
/** What becomes of one name in each part; undefined takes it away, a part that is not here stays as it is. */
type Edits = Readonly<Partial<Record<PartName, Value | undefined>>>;

/**
 * Changes what is stored under one name, in one write, and leaves everything else in the file as it is. conf writes to a new
 * file and renames it, so that a reader, a crash or a second writer never meets half a file; of two writers at once, the later
 * one's file stays.
 */
async function edit(
  { folder, store }: ConfigPlace,
  name: string,
  editsFor: (config: StoredConfig) => Edits,
): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    makePrivateFolder(folder);
    const edits = Object.entries(editsFor(configOf(readConfig(folder).config, store))) as [PartName, Value][];
    // Without dot notation: names are names, not paths.
    const conf = new Conf<Content>({
      cwd: folder,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      deserialize: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
    });
    const content = conf.store;
    const before: Parts = store === undefined ? content : (content.stores?.[store] ?? {});
    const changed = edits.filter(([part, value]) => before[part]?.[name] !== value);
    if (changed.length === 0) return;
    const after = changed.reduce((parts, [part, value]) => withValue(parts, part, name, value), before);
    conf.store =
      store === undefined ? { ...content, ...after } : { ...content, stores: withStore(content.stores, store, after) };
  } catch (error) {
    if (error instanceof PetstockError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FailureError(
      `The configuration file ${configFile(folder)} could not be written: ${reason}. It is as it was before.`,
      { cause: error },
    );
  }
}

function withValue(parts: Parts, part: PartName, name: string, value: Value | undefined): Parts {
  const { [name]: _before, ...others } = parts[part] ?? {};
  return { ...parts, [part]: value === undefined ? others : { ...others, [name]: value } };
}

/** A store that nothing is stored for any more is forgotten. */
function withStore(stores: Content['stores'], store: string, parts: Parts): Record<string, Parts> {
  const { [store]: _before, ...others } = stores ?? {};
  const isEmpty = Object.values(parts).every((part) => Object.keys(part).length === 0);
  return isEmpty ? others : { ...others, [store]: parts };
}
