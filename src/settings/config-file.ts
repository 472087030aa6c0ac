import { readFileSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../shared/errors.ts';
import { narrowFile, type PrivacyFindings } from '../shared/private-files.ts';
import { decodeConfig } from './config-format.ts';
import type { StoredConfig } from './settings.ts';

/** What a missing file means. */
export const emptyConfig: StoredConfig = { settings: {}, keys: {}, urls: {} };

export interface ReadConfig extends PrivacyFindings {
  readonly config: StoredConfig;
}

/** Where the configuration is, in its folder. */
export function configFile(folder: string): string {
  return path.join(folder, 'config.json');
}

/**
 * Reads and checks the configuration; a missing file is an empty one. A file that others can read is narrowed to 0600
 * first: show `privacyWarnings()` of the answer. Does not load the library that writes, which is slow to import.
 *
 * @throws UsageError that names the file and the fault, where it cannot be read or does not make sense; the file stays as it is
 */
export function readConfig(folder: string): ReadConfig {
  const file = configFile(folder);
  const text = readText(file);
  if (text === undefined) return { config: emptyConfig, narrowed: [], exposed: [] };
  const privacy = narrowFile(file);
  return {
    config: decodeConfig(parseJson(text, file), file),
    narrowed: privacy === 'narrowed' ? [file] : [],
    exposed: privacy === 'exposed' ? [file] : [],
  };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The configuration file ${file} cannot be read: ${reason}.`, { cause: error });
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The parser's own message quotes the text, and that may be a key.
    throw new UsageError(
      `The configuration file ${file} is not valid JSON. Mend it, or move it away and set up again; petstock did not change it.`,
    );
  }
}
