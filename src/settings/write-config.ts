import { FailureError, PetstockError } from '../shared/errors.ts';
import { makePrivateFolder } from '../shared/private-folder.ts';
import { configFile, readConfig } from './config-file.ts';
import type { SettingName, SettingValue } from './names.ts';
import type { RemoteEnvironmentName } from './settings.ts';

/** @throws UsageError where the present file makes no sense, FailureError where the file cannot be written; so do all below. */
export function setSetting<Name extends SettingName>(
  folder: string,
  name: Name,
  value: SettingValue<Name>,
): Promise<void> {
  return change(folder, 'settings', name, value);
}

/** Not set before: changes nothing. */
export function unsetSetting(folder: string, name: SettingName): Promise<void> {
  return change(folder, 'settings', name, undefined);
}

/** @param key as `parseKey` gave it */
export function setKey(folder: string, name: RemoteEnvironmentName, key: string): Promise<void> {
  return change(folder, 'keys', name, key);
}

export function unsetKey(folder: string, name: RemoteEnvironmentName): Promise<void> {
  return change(folder, 'keys', name, undefined);
}

/** @param url as `parseBaseUrl` gave it */
export function setUrl(folder: string, name: RemoteEnvironmentName, url: string): Promise<void> {
  return change(folder, 'urls', name, url);
}

export function unsetUrl(folder: string, name: RemoteEnvironmentName): Promise<void> {
  return change(folder, 'urls', name, undefined);
}

type Part = Record<string, string | number | boolean>;

/**
 * Changes one value and leaves everything else in the file as it is. conf writes to a new file and renames it, so that a
 * reader, a crash or a second writer never meets half a file; of two writers at once, the later one's file stays.
 */
async function change(
  folder: string,
  part: 'settings' | 'keys' | 'urls',
  name: string,
  value: string | number | boolean | undefined,
): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    makePrivateFolder(folder);
    readConfig(folder);
    // Without dot notation: names are names, not paths.
    const conf = new Conf<Partial<Record<'settings' | 'keys' | 'urls', Part>>>({
      cwd: folder,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      deserialize: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
    });
    const { [name]: before, ...others } = conf.get(part) ?? {};
    if (before !== value) conf.set(part, value === undefined ? others : { ...others, [name]: value });
  } catch (error) {
    if (error instanceof PetstockError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FailureError(
      `The configuration file ${configFile(folder)} could not be written: ${reason}. It is as it was before.`,
      { cause: error },
    );
  }
}
