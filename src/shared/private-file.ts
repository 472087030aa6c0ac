import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { effectiveUser } from './effective-user.ts';
import { FailureError } from './errors.ts';
import { systemCode } from './file-error.ts';
import { foreignLink, requirePrivateFolder } from './private-folder.ts';
import { shellWord } from './shell-word.ts';

const root = 0;
const writableByOthers = 0o022;
const ofOthers = 0o077;

/** The content of a file of ours. */
export interface PrivateFile {
  readonly text: string;
  /** A line to show if others could read it. */
  readonly warning: string | undefined;
}

/**
 * Reads a file that may hold a key. It is opened once, and what is looked at and narrowed (0600) is what is open, so that nothing
 * can take its place meanwhile. Nothing is read or narrowed of a file that another user may have made: their key, or their
 * address, would be used.
 *
 * A symbolic link of ours is followed, as `privatePlace` does.
 *
 * @returns undefined if there is no such file
 * @throws FailureError for anything but a file, for one that belongs to another user than this one or root, or can be written
 *   to by others; the error of `node:fs` if it can't be read
 */
export function readPrivateFile(given: string): PrivateFile | undefined {
  const path = privatePlace(given);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  requireOurs(path, found);
  // Should it have become a link or a pipe by now, this fails or does not block.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(descriptor);
    requireOurs(path, stats);
    return { text: readFileSync(descriptor, 'utf8'), warning: narrow(path, descriptor, stats) };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns where a private file is: a symbolic link that only this user or root can have put there is followed, to a folder that
 * others can't write to. Nothing need be there.
 * @throws FailureError for a link of anybody else, and for one that leads nowhere
 */
export function privatePlace(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isSymbolicLink()) return path;
  const link = foreignLink(path);
  if (link !== undefined) throw refusal(path, `${link} is a symbolic link that another user may have put there`);
  try {
    const place = realpathSync(path);
    requirePrivateFolder(dirname(place));
    return place;
  } catch (error) {
    if (error instanceof FailureError) throw error;
    throw refusal(path, 'it is a symbolic link to what does not exist: make that, or remove the link');
  }
}

/**
 * Refuses a file that another user may have made, as `readPrivateFile` does; one that is missing passes.
 * @throws FailureError
 */
export function requirePrivateFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined) requireOurs(path, found);
}

function requireOurs(path: string, stats: Stats): void {
  const user = effectiveUser();
  if (stats.isSymbolicLink()) throw refusal(path, 'it is a symbolic link: put the file itself there');
  if (!stats.isFile()) throw refusal(path, 'it is not a file');
  if (user === undefined) return;
  if (stats.uid !== user && stats.uid !== root) {
    throw refusal(path, `it belongs to another user (uid ${stats.uid}): move it away, or name a folder of your own`);
  }
  if ((stats.mode & writableByOthers) !== 0) {
    throw refusal(path, 'others can write to it: check that it is as you left it', `chmod 600 ${shellWord(path)}`);
  }
}

function narrow(path: string, descriptor: number, { mode, uid }: Stats): string | undefined {
  const user = effectiveUser();
  if (user === undefined || (mode & ofOthers) === 0) return undefined;
  const exposed = `${path} can be read by others, and its mode can't be changed: run chmod 600 as its owner`;
  if (uid !== user) return exposed;
  try {
    fchmodSync(descriptor, 0o600);
    return `${path} could be read by others; it is now private (0600)`;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return exposed;
  }
}

function refusal(path: string, reason: string, hint?: string): FailureError {
  return new FailureError(`The file ${path} can't be used: ${reason}`, { hint });
}
