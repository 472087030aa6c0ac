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

/** The place of a file, with its folder held open: what others rename meanwhile leads nowhere else. */
export interface Place {
  /** Its folder for the calls of `node:fs`: by its descriptor where there is `/proc` (Linux), else by its path. */
  readonly folder: string;
  /** Without symbolic links. */
  readonly folderPath: string;
  readonly name: string;
  /** What is there: no symbolic link. Undefined: nothing. */
  readonly stats: Stats | undefined;
  close(): void;
}

/** A symbolic link that another user may have put on a path. */
export class ForeignLink extends Error {
  readonly link: string;

  constructor(link: string) {
    super(`${link} is a symbolic link, in a folder where others can put one`);
    this.link = link;
  }
}

interface Folder extends Pick<Place, 'close'> {
  readonly at: string;
  readonly path: string;
}

/** A path that leads in a circle is a fault that the system finds. */
const maxLinks = 40;

/**
 * Follows a path to where its file is or would be. Each part is looked for in the folder before it, which is open, so that a link
 * which takes the place of a folder meanwhile is found to be one. Elsewhere than on Linux, Node can look for nothing in an open folder:
 * there such a link is followed if it comes between two calls of the system.
 * @throws ForeignLink for a link in a folder of another user, or that others can write to; the error of `node:fs`
 */
export function openPlace(path: string): Place {
  // Windows has no such owners, and its links are made by administrators.
  if (effectiveUser() === undefined) return placeOnWindows(path);
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

/** For a folder that may only be passed through, too. `node:fs` has no name for it; it is the same on each machine that Node runs on. */
const O_PATH = 0o10000000;

function openFolder(at: string, path: string): Folder {
  const descriptor = openSync(at, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { at: `/proc/self/fd/${descriptor}`, path, close: () => closeSync(descriptor) };
}

function requireTrusted({ at, path }: Folder, name: string): void {
  const { uid, mode } = statSync(at);
  if (isOursOrRoots(uid) && ((mode & writableByOthers) === 0 || isReadOnly(at))) return;
  throw new ForeignLink(resolve(path, name));
}

/** Whether a folder is of a disk that can't be written to at all, as the secrets of Kubernetes are, which seem to be everybody's. */
function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return systemCode(error) === 'EROFS';
  }
}

function placeOnWindows(path: string): Place {
  const found = statSync(path, { throwIfNoEntry: false });
  // What is no file may have no name of its own.
  const place = found?.isFile() ? realpathSync(path) : resolve(path);
  const folder = dirname(place);
  return { folder, folderPath: folder, name: basename(place), stats: found, close: () => {} };
}
