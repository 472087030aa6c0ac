import { randomBytes } from 'node:crypto';
import { constants, fsync, type Stats, statSync } from 'node:fs';
import { type FileHandle, link, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { FailureError, fileErrorReason, openElsewhere, systemCode } from './errors.ts';
import { effectiveUser } from './private-files.ts';

/** Calls that sync and rename files. Tests replace them, and so do callers that sync later. */
export interface DiskSync {
  file(handle: FileHandle): Promise<void>;
  /** Syncs a folder, because a new name is durable only after that. */
  folder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  readonly isWindows: boolean;
  pause(ms: number): Promise<void>;
}

/** Uses `fsync` of `node:fs`, which tests can replace for all files at once. */
const syncHandle = ({ fd }: FileHandle): Promise<void> => promisify(fsync)(fd);
const diskSync: DiskSync = {
  file: syncHandle,
  folder: (path) => syncPath(path),
  rename,
  isWindows: effectiveUser() === undefined,
  pause: setTimeout,
};

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string>;

export interface WriteOptions {
  /**
   * Private files get mode 0600, even if they replace a file with another mode. Otherwise a new file gets the mode that
   * the umask allows, and a replaced one keeps its mode, without set-id bits.
   */
  readonly isPrivate?: boolean;
  readonly sync?: Partial<DiskSync>;
}

/**
 * Writes a file as a whole or not at all: writes a new file beside it, and renames that once it is on disk. An existing
 * file keeps its permissions (see `isPrivate`), and its owner if this user may set it. A symbolic link to it stays in
 * place. Anything that is not a file (`/dev/stdout`, a pipe) is written to directly.
 * @throws FailureError that describes the problem of the folder or the disk; errors of `pieces` unchanged
 */
export async function writeFileAtomically(path: string, pieces: Pieces, options: WriteOptions = {}): Promise<void> {
  const mode = options.isPrivate ? 0o600 : 0o666;
  const stats = await attempt(path, () => statsOf(path));
  if (stats?.isDirectory()) throw new FailureError(`${path} can't be written: it is a folder`);
  if (stats?.isFile() === false) return writeDirectly(path, pieces);
  const target = await attempt(path, () => targetOf(path, stats));
  const system = { ...diskSync, ...options.sync };
  await throughNewFile(target, pieces, system, {
    shownPath: path,
    mode,
    like: stats && { ...stats, mode: options.isPrivate ? mode : stats.mode },
    put: (temporary) => replace(path, temporary, target, system),
  });
}

async function statsOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** Returns the path of the file behind symbolic links. */
async function targetOf(path: string, stats: Stats | undefined): Promise<string> {
  if (stats !== undefined) return realpath(path);
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
  if (!isLink) return path;
  throw new FailureError(`${path} can't be written: it is a symbolic link whose target does not exist`);
}

/** Writes to a device or a pipe. A pipe may have no path of its own, as behind /dev/stdout. */
async function writeDirectly(path: string, pieces: Pieces): Promise<void> {
  const target = await attempt(path, () => open(path, constants.O_WRONLY));
  return writeAndClose(path, target, pieces);
}

/** Milliseconds between attempts while another program may have the file open: a virus scanner soon closes it. */
const pauses = [50, 100, 200, 400, 800];

/**
 * Gives the finished file the name of the old one. On Windows, tries again while another program has the old one open.
 * @throws FailureError if that program does not close it; any other error of `rename` unchanged
 */
async function replace(path: string, temporary: string, location: string, system: DiskSync): Promise<void> {
  for (const pause of [...pauses, undefined]) {
    try {
      return await system.rename(temporary, location);
    } catch (error) {
      // EPERM and EACCES also mean a folder without write permission, but the new file has shown that there is
      // permission.
      const isOpen = system.isWindows && ['EPERM', 'EACCES', 'EBUSY'].includes(systemCode(error) ?? '');
      if (!isOpen) throw error;
      if (pause === undefined) throw new FailureError(`${path} can't be written: ${openElsewhere}`, { cause: error });
      await system.pause(pause);
    }
  }
}

/**
 * Creates a private file (0600) as a whole, if nothing exists there yet. If several processes do so at once, one
 * succeeds.
 * @returns false if something already exists there; it stays unchanged
 * @throws FailureError that describes the problem of the folder or the disk
 */
export async function createFileAtomically(path: string, text: string, sync: Partial<DiskSync> = {}): Promise<boolean> {
  const put = async (temporary: string) => {
    try {
      await link(temporary, path);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
      return false;
    } finally {
      await rm(temporary);
    }
    return true;
  };
  return throughNewFile(path, [text], { ...diskSync, ...sync }, { shownPath: path, mode: 0o600, put });
}

interface NewFile<Result> {
  /** The path as the user gave it, for messages. */
  readonly shownPath: string;
  readonly mode: number;
  /** The file whose owner and permissions are copied. */
  readonly like?: Pick<Stats, 'uid' | 'gid' | 'mode'> | undefined;
  /** Gives the finished file its final name. */
  put(temporary: string): Promise<Result>;
}

async function throughNewFile<Result>(
  path: string,
  pieces: Pieces,
  sync: DiskSync,
  { shownPath, mode, like, put }: NewFile<Result>,
): Promise<Result> {
  const folder = dirname(path);
  const temporary = join(folder, `.petstock-${randomBytes(16).toString('hex')}.tmp`);
  const target = await attempt(shownPath, () => open(temporary, 'wx', mode));
  let result: Result;
  try {
    await writeAndClose(shownPath, target, pieces, async () => {
      await copyOwner(target, like);
      await sync.file(target);
    });
    result = await attempt(shownPath, () => put(temporary));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await attempt(shownPath, () => sync.folder(folder));
  return result;
}

/**
 * Rejects a path in a folder that does not exist, before any work is done for the file.
 * @throws FailureError
 */
export function requireFolderOf(path: string): void {
  const stats = statSync(dirname(path), { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) throw new FailureError(`${path} can't be written: there is no such folder`);
}

async function writeAndClose(
  path: string,
  target: FileHandle,
  pieces: Pieces,
  last?: () => Promise<void>,
): Promise<void> {
  try {
    for await (const piece of pieces) await attempt(path, () => target.writeFile(piece));
    if (last !== undefined) await attempt(path, last);
  } finally {
    await target.close();
  }
}

async function copyOwner(target: FileHandle, like: NewFile<never>['like']): Promise<void> {
  if (like === undefined) return;
  // Only root may change the owner. The mode is set afterwards, because a change of owner clears some of its bits.
  await target.chown(like.uid, like.gid).catch(() => undefined);
  // The set-id bits are dropped, because they would let others run the new content as its owner.
  await target.chmod(like.mode & 0o777);
}

/**
 * Syncs a file or folder to disk, if possible: Windows and some file systems can't sync folders, and a folder may be
 * writable but not readable.
 * @throws the error of `node:fs` if the disk is broken or full
 * @param flags `r+` for a file, because Windows only syncs files opened for writing
 */
export async function syncPath(path: string, flags = 'r'): Promise<void> {
  try {
    const handle = await open(path, flags);
    await syncHandle(handle).finally(() => handle.close());
  } catch (error) {
    if (['EIO', 'ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '')) throw error;
  }
}

/** @throws FailureError that describes any error of the step */
async function attempt<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw writeErrorOf(path, error);
  }
}

function writeErrorOf(path: string, error: unknown): FailureError {
  if (error instanceof FailureError) return error;
  return new FailureError(`${path} can't be written: ${fileErrorReason(error)}`, { cause: error });
}
