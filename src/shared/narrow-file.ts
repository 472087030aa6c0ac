import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from 'node:fs';
import { effectiveUser } from './effective-user.ts';
import { systemCode } from './file-error.ts';

/** The bits of group and others. */
const others = 0o077;

/**
 * - `private`: nothing to do, nothing there, or Windows, where a file has the rights of its folder
 * - `narrowed`: others could read or write it, and it is 0600 now
 * - `exposed`: others can read or write it, and it can't be changed: it is another user's, no file, or on a disk that can only be read
 */
export type Privacy = 'private' | 'narrowed' | 'exposed';

/**
 * Makes a file of ours that others could read or write private (0600). What is changed is the open file, so that no other can
 * take its place meanwhile; a link of another user is not followed.
 */
export function narrowFile(path: string): Privacy {
  const user = effectiveUser();
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || user === undefined) return 'private';
  if (!found.isSymbolicLink())
    return (found.mode & others) === 0 ? 'private' : narrow(path, user, constants.O_NOFOLLOW);
  return found.uid === user ? narrow(path, user, 0) : 'exposed';
}

function narrow(path: string, user: number, flags: number): Privacy {
  let descriptor: number;
  try {
    // A pipe in its place would block.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'private' : 'exposed';
  }
  try {
    const stats = fstatSync(descriptor);
    if ((stats.mode & others) === 0) return 'private';
    if (stats.uid !== user || !stats.isFile()) return 'exposed';
    fchmodSync(descriptor, 0o600);
    return 'narrowed';
  } catch {
    return 'exposed';
  } finally {
    closeSync(descriptor);
  }
}

/** Narrows a file. @returns a line to warn with, where it was not private */
export function narrowWithWarning(path: string): string | undefined {
  const privacy = narrowFile(path);
  if (privacy === 'narrowed') return `${path} could be read by others; it is now private (0600)`;
  if (privacy === 'exposed')
    return `${path} can be read by others, and its mode can't be changed: run chmod 600 as its owner`;
  return undefined;
}
