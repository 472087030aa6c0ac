import { lstatSync, mkdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { effectiveUser } from './effective-user.ts';
import { FailureError } from './errors.ts';
import { fileErrorReason, systemCode } from './file-error.ts';
import { shellWord } from './shell-word.ts';

const sticky = 0o1000;
const writableByOthers = 0o022;
const root = 0;

/**
 * Makes a folder, and those above it that are missing, for this user alone (0700). The only maker of folders in the program.
 * Several processes may make the same one at once. A folder that is there already is never changed: it is used if it is
 * ours and only we can write to it. Others may read its names (0755): the files in it are 0600.
 *
 * On Windows a folder has the rights of the one above it, and only its kind is looked at.
 *
 * @throws FailureError if it can't be made, is not a folder, belongs to another user or can be written to by others
 */
export function makePrivateFolder(path: string): void {
  make(path);
  check(path, (owner) => owner === effectiveUser());
}

/**
 * Refuses to read keys from a folder that others can write to: they could have put them there. One that is missing passes, and
 * so does one of root (`/etc/petstock`).
 *
 * @throws FailureError if it is not a folder, belongs to another user than this one or root, or can be written to by others
 */
export function requirePrivateFolder(path: string): void {
  check(path, isOursOrRoots);
}

/** Not `recursive`, which on Node 20 never ends below a folder that takes no folders, such as /proc. */
function make(path: string): void {
  if (tryToMake(path)) return;
  const parent = dirname(path);
  if (parent !== path) make(parent);
  if (!tryToMake(path)) throw failure(path, `no folder can be made in ${parent}`);
}

/** @returns false if the folder above is missing, or takes no folders */
function tryToMake(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    if (code === 'ENOTDIR') throw failure(path, 'a part of its path is a file', error);
    // Windows, and macOS for the root of a disk, refuse before they look whether it is there.
    if (statsOf(path, statSync)?.isDirectory() === true) return true;
    throw failure(path, fileErrorReason(error), error);
  }
}

function check(path: string, isAccepted: (owner: number) => boolean): void {
  const link = statsOf(path, lstatSync);
  if (link === undefined) return;
  if (link.isSymbolicLink() && !isOursOrRoots(link.uid)) {
    throw failure(path, `it is a symbolic link of another user (uid ${link.uid}): name a folder of your own`);
  }
  const stats = statsOf(path, statSync);
  if (stats === undefined)
    throw failure(path, 'it is a symbolic link to what does not exist: make it, or remove the link');
  if (!stats.isDirectory()) throw failure(path, 'it is not a folder');
  if (effectiveUser() === undefined) return;
  // Before the owner: root too has to be kept from the shared temporary folder, which is root's.
  if ((stats.mode & sticky) !== 0 && (stats.mode & writableByOthers) !== 0) {
    throw failure(path, `all users share it: name a folder below it, such as ${join(path, 'petstock')}`);
  }
  if (!isAccepted(stats.uid)) {
    throw failure(path, `it belongs to another user (uid ${stats.uid}): name a folder of your own`);
  }
  if ((stats.mode & writableByOthers) !== 0) {
    throw failure(path, `others can write to it: run chmod go-w ${shellWord(path)}, or name another folder`);
  }
}

/**
 * Returns the first symbolic link on a path that another user may have put there: one in a folder that is theirs or that they can
 * write to. Each part of the path is checked, and each link on the way. Undefined on Windows.
 * @throws the error of `node:fs`
 */
export function foreignLink(path: string): string | undefined {
  if (effectiveUser() === undefined) return undefined;
  let folder: string = sep;
  const names = resolve(path).split(sep);
  for (let links = 0; names.length > 0 && links < mostLinks; ) {
    const place = resolve(folder, names.shift() ?? '');
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) {
      const { uid, mode } = statSync(folder);
      if (!isOursOrRoots(uid) || (mode & writableByOthers) !== 0) return place;
      links += 1;
      const target = readlinkSync(place);
      names.unshift(...target.split(sep));
      if (isAbsolute(target)) folder = sep;
    } else folder = place;
  }
  return undefined;
}

/** A path that leads in a circle is a fault that the system finds. */
const mostLinks = 40;

function isOursOrRoots(owner: number): boolean {
  const user = effectiveUser();
  return user === undefined || owner === user || owner === root;
}

function statsOf(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw failure(path, fileErrorReason(error), error);
  }
}

function failure(path: string, reason: string, cause?: unknown): FailureError {
  return new FailureError(`The folder ${path} can't be used: ${reason}`, { cause });
}
