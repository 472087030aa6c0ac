import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { platform } from 'node:os';
import { basename, dirname, isAbsolute, resolve, sep } from 'node:path';
import { effectiveUser, isOursOrRoots } from './account.ts';
import { systemCode } from './file-error.ts';

export const writableByOthers = 0o022;

/**
 * The location of a file. On Linux its folder is held open, so that renaming a folder can't redirect the location.
 */
export interface FileLocation {
  /** The folder for calls of `node:fs`: by its descriptor if there is `/proc` (Linux), otherwise by its path. */
  readonly folder: string;
  /** The path of the folder, without symbolic links. */
  readonly folderPath: string;
  readonly name: string;
  /** The file or folder of this name (never a symbolic link); undefined if there is none. */
  readonly stats: Stats | undefined;
  close(): void;
}

/** Thrown for a path with a symbolic link that another user may have created. */
export class UntrustedLink extends Error {
  readonly link: string;

  constructor(link: string) {
    super(`${link} is a symbolic link in a folder that others can write to`);
    this.link = link;
  }
}

interface Folder extends Pick<FileLocation, 'close'> {
  readonly at: string;
  readonly path: string;
}

/** A path that leads through this many links is assumed to form a loop. */
const maxLinks = 40;

/**
 * Resolves a path to the location of its file, which may not exist yet. Each part is looked up in the open folder
 * before it, so a link that replaces a folder meanwhile is detected. Except on Linux, Node can't look up names in an
 * open folder, so a link that appears between two system calls is followed.
 * @throws UntrustedLink for a link in a folder that another user (except root) owns or can write to; the error of
 * `node:fs`
 */
export function openFileLocation(path: string): FileLocation {
  // Files have no numeric owners on Windows, and a user needs a privilege to create links.
  if (effectiveUser() === undefined) return locationOnWindows(path);
  const canOpen = platform() === 'linux' && existsSync('/proc/self/fd');
  const root: Folder = { at: '/.', path: sep, close: () => {} };
  let folder = root;
  const names = partsOf(resolve(path));
  try {
    for (let links = 0; links < maxLinks; ) {
      const name = names.shift() ?? '.';
      const at = `${folder.at}/${name}`;
      const stats = lstatSync(at, { throwIfNoEntry: false });
      if (stats?.isSymbolicLink()) {
        requireTrusted(folder, name);
        links += 1;
        const target = readlinkSync(at);
        names.unshift(...partsOf(target));
        if (isAbsolute(target)) folder = change(folder, root);
      } else if (names.length > 0) {
        const path = resolve(folder.path, name);
        folder = change(folder, canOpen ? openFolder(at, path) : { at: path, path, close: () => {} });
      } else {
        const { at: open, path: folderPath, close } = folder;
        return { folder: open, folderPath, name, stats, close };
      }
    }
  } catch (error) {
    folder.close();
    throw error;
  }
  folder.close();
  throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}

function change(from: Folder, to: Folder): Folder {
  from.close();
  return to;
}

/**
 * The flag that also opens a folder that may only be traversed. `node:fs` has no name for this flag; its value is the
 * same on every machine that Node supports.
 */
const O_PATH = 0o10000000;

function openFolder(at: string, path: string): Folder {
  const descriptor = openSync(at, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { at: `/proc/self/fd/${descriptor}`, path, close: () => closeSync(descriptor) };
}

function requireTrusted({ at, path }: Folder, name: string): void {
  const { uid, mode } = statSync(at);
  if (isOursOrRoots(uid) && ((mode & writableByOthers) === 0 || isReadOnly(at))) return;
  throw new UntrustedLink(resolve(path, name));
}

/** Reports whether a folder is on a read-only disk. In Kubernetes, folders of secrets are, whatever their modes say. */
function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return systemCode(error) === 'EROFS';
  }
}

function locationOnWindows(path: string): FileLocation {
  const found = statSync(path, { throwIfNoEntry: false });
  // A device or a pipe may have no path of its own.
  const file = found?.isFile() ? realpathSync(path) : resolve(path);
  const folder = dirname(file);
  return { folder, folderPath: folder, name: basename(file), stats: found, close: () => {} };
}
