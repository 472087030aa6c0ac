import { closeSync, copyFileSync, existsSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FailureError, PetstockError, UnavailableError } from '../shared/errors.ts';
import { makePrivateFolder, privateLocation, withFolderHint } from '../shared/private-files.ts';
import { awaitLock, isBusy } from '../shared/sqlite-engine.ts';
import {
  configFile,
  configOf,
  decodeConfig,
  type KeyCommand,
  openConf,
  readContent,
  type StoredConfig,
  type StoredStore,
} from './config-file.ts';
import { hasKey, originOfKey, requireUrlOfKey } from './resolve.ts';
import type { RemoteEnvironmentName, SettingName, SettingValue } from './settings.ts';

/** The part of the configuration file to change. */
export interface ConfigTarget {
  readonly folder: string;
  /** The name of the store; undefined for the store without a name: its settings apply to all stores. */
  readonly store: string | undefined;
}

export interface RemoteTarget extends ConfigTarget {
  readonly env: RemoteEnvironmentName;
}

/**
 * Stores a setting; undefined removes it.
 * @returns whether anything has changed, like the other exported functions
 * @throws UsageError if the present file is not valid, FailureError if the file can't be written, UnavailableError if
 * another process does not finish its change within 30 s, like the other exported functions
 */
export function setSetting<Name extends SettingName>(
  target: ConfigTarget,
  name: Name,
  value: SettingValue<Name> | undefined,
): Promise<boolean> {
  return edit(target, name, () => ({ settings: value as string | number | undefined }));
}

/** A key as returned by `parseKey`, or the command that prints a key. */
export type Credential = string | KeyCommand;

/**
 * Stores a key, or a command that prints a key, in place of the stored credential.
 * @param url where the key may be sent, as returned by `parseBaseUrl`; undefined if no address is known yet
 * @param storesUrl whether to store the URL, too
 */
export function setKey(
  target: RemoteTarget,
  key: Credential,
  url?: string | undefined,
  storesUrl = false,
): Promise<boolean> {
  const credential =
    typeof key === 'string' ? { keys: key, keyCommands: undefined } : { keys: undefined, keyCommands: key };
  return edit(target, target.env, () => ({
    ...credential,
    keyOrigins: originOf(url),
    ...(storesUrl && { urls: url }),
  }));
}

export function unsetKey(target: RemoteTarget): Promise<boolean> {
  return edit(target, target.env, () => ({ keys: undefined, keyCommands: undefined, keyOrigins: undefined }));
}

/**
 * Stores a URL. A key that was stored before any address was known is bound to the origin of this URL.
 * @param url as returned by `parseBaseUrl`
 * @throws AuthError if the stored key belongs to another origin
 */
export function setUrl(target: RemoteTarget, url: string): Promise<boolean> {
  const { env } = target;
  return edit(target, env, (config) => {
    requireUrlOfKey(env, url, config);
    return { urls: url, keyOrigins: hasKey(env, config) ? originOf(url) : undefined };
  });
}

/** Removes a URL. The stored key stays bound to its origin. */
export function unsetUrl(target: RemoteTarget): Promise<boolean> {
  return edit(target, target.env, (config) => ({ urls: undefined, keyOrigins: originOfKey(target.env, config) }));
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).origin;
}

type PartName = keyof StoredStore;
type Value = string | number | KeyCommand;
type Parts = Partial<Record<PartName, Record<string, Value>>>;
/** The content of the configuration file: the parts of the store without a name, and those of each named store. */
type Content = Parts & { readonly stores?: Record<string, Parts> };
/** The new value of one name in each part. Undefined removes the value, and an absent part stays unchanged. */
type Edits = Readonly<Partial<Record<PartName, Value | undefined>>>;

/**
 * Changes what is stored under one name, in one write, and leaves the rest of the file unchanged. Reading and writing
 * happen under one lock, so that no concurrent change is lost.
 */
async function edit(target: ConfigTarget, name: string, editsFor: (config: StoredConfig) => Edits): Promise<boolean> {
  const file = configFile(target.folder);
  try {
    makePrivateFolder(target.folder);
    return await underLock(target.folder, async () => {
      const found = await readContent(target.folder);
      const content = (found === undefined ? {} : found.content) as Content;
      const edits = editsFor(configOf(decodeConfig(content, file), target.store));
      const changed = withEdits(content, target.store, name, edits);
      if (changed === content) return false;
      await write(privateLocation(file), changed);
      return true;
    });
  } catch (error) {
    if (error instanceof PetstockError) throw withFolderHint(error, 'config', target.folder);
    const reason = error instanceof Error ? error.message : String(error);
    throw new FailureError(`The configuration file ${file} could not be written: ${reason}. It was not changed.`, {
      cause: error,
    });
  }
}

/**
 * Writes the file. conf replaces the whole file, so that no reader sees a part of it, but does not check how much was
 * written: a full disk accepts only a part. The old file is kept as a link (it takes no space) until the new file has
 * been read back.
 */
async function write(file: string, content: Content): Promise<void> {
  const before = `${file}.before`;
  rmSync(before, { force: true });
  const isNew = !existsSync(file);
  if (!isNew) linkOrCopy(file, before);
  try {
    const conf = await openConf(file);
    conf.store = content;
    if (JSON.stringify(conf.store) !== JSON.stringify(content)) throw new Error('the text that was read back differs');
  } catch (error) {
    if (isNew) rmSync(file, { force: true });
    else renameSync(before, file);
    throw error instanceof SyntaxError ? new Error('the disk accepted only a part of it', { cause: error }) : error;
  } finally {
    rmSync(before, { force: true });
  }
}

/** Links a file, or copies it, because not every file system supports links. */
function linkOrCopy(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch {
    copyFileSync(file, to);
  }
}

/** Returns the content with the edits; the same object if nothing changes. */
function withEdits(content: Content, store: string | undefined, name: string, edits: Edits): Content {
  const before: Parts = store === undefined ? content : (content.stores?.[store] ?? {});
  const changed = (Object.entries(edits) as [PartName, Value | undefined][]).filter(
    ([part, value]) => JSON.stringify(before[part]?.[name]) !== JSON.stringify(value),
  );
  if (changed.length === 0) return content;
  const after = { ...before };
  for (const [part, value] of changed) {
    const { [name]: _before, ...others } = before[part] ?? {};
    after[part] = value === undefined ? others : { ...others, [name]: value };
  }
  if (store === undefined) return { ...content, ...after };
  const { [store]: _store, ...others } = content.stores ?? {};
  // A store without content is removed.
  const isEmpty = Object.values(after).every((part) => Object.keys(part).length === 0);
  return { ...content, stores: isEmpty ? others : { ...others, [store]: after } };
}

/**
 * Maximum wait for the lock, in milliseconds. A change takes a few milliseconds, but another process may have been
 * stopped in the middle of one.
 */
const maxWait = 30_000;

async function underLock<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const file = join(folder, 'config.lock');
  closeSync(openSync(file, 'a', 0o600));
  const lock = await awaitLock(file, maxWait).catch((error) => {
    const wait = `Another process has been changing the configuration in ${folder} for ${maxWait / 1000} s`;
    throw isBusy(error) ? new UnavailableError(`${wait}. Nothing was changed`) : error;
  });
  return work().finally(() => lock.close());
}
