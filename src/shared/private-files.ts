import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { FailureError, fileErrorReason, readErrorReason, systemCode } from './errors.ts';
import { shellWord } from './hint.ts';

/** Returns the uid that this process acts as; undefined on Windows, where files have no such owner. */
export function effectiveUser(): number | undefined {
  // biome-ignore lint/style/noRestrictedGlobals: an import would copy all properties of the process, 0.2 ms
  return process.geteuid?.();
}

const root = 0;

/** Reports whether a file belongs to this user or to root, or is on a system without owners. */
function isOursOrRoots(owner: number): boolean {
  const user = effectiveUser();
  return user === undefined || owner === user || owner === root;
}

/** Returns the home folder of this user's account, whatever HOME is; undefined if there is no account. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A container may run under a number without an account.
    return undefined;
  }
}

const writableByOthers = 0o022;
const writableByGroup = 0o020;
const sticky = 0o1000;
const ofOthers = 0o077;

export interface PrivateFile {
  readonly text: string;
  /** A line to show if others could read the file, or still can. */
  readonly warning: string | undefined;
}

/**
 * Finds a file that may contain a key, and makes it private (0600, except on Windows). A file that another user may
 * have created is not changed, and must not be read, because that user's key or address would be used.
 *
 * A symbolic link is followed, see `privateLocation`.
 * @returns undefined if the file does not exist
 * @throws FailureError for anything but a file, and for a file that belongs to another user (except root) or can be
 * written to by others
 */
export function findPrivateFile(given: string) {
  const found = findOurs(given);
  return found && { path: found.path, warning: narrow(found.path, found.stats) };
}

/**
 * Reads a file that may contain a key, see `findPrivateFile`.
 * @throws the error of `node:fs` if the file can't be read
 */
export function readPrivateFile(given: string): PrivateFile | undefined {
  const found = findPrivateFile(given);
  return found && { text: readFileSync(found.path, 'utf8'), warning: found.warning };
}

/**
 * Reads a file that others may read but only this user or root may have written, such as trusted certificates.
 * @param most the maximum size in bytes
 * @returns undefined if the file does not exist
 * @throws FailureError if the file is larger; the same errors as `readPrivateFile`
 */
export function readTrustedFile(given: string, most: number): string | undefined {
  const found = findOurs(given);
  if (found === undefined) return undefined;
  if (found.stats.size > most) throw refusal(found.path, 'it is too large');
  return readFileSync(found.path, 'latin1');
}

function findOurs(given: string): { readonly path: string; readonly stats: Stats } | undefined {
  const path = privateLocation(given);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  requireOurs(path, stats);
  return { path, stats };
}

/**
 * Returns the location of a private file. A symbolic link is followed to a folder that others can't write to. The file
 * need not exist.
 * @throws FailureError for a link whose target does not exist, or is in another folder
 */
export function privateLocation(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  const target = targetOf(path);
  requirePrivateFolder(dirname(target));
  return target;
}

function targetOf(link: string): string {
  try {
    return realpathSync(link);
  } catch (cause) {
    const reason = 'it is a symbolic link whose target does not exist: create the target, or remove the link';
    throw refusal(link, reason, { cause });
  }
}

/**
 * Rejects a file that another user may have created, like `readPrivateFile`; a missing file is accepted.
 * @throws FailureError
 */
export function requirePrivateFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined) requireOurs(path, found);
}

function requireOurs(path: string, stats: Stats): void {
  const user = effectiveUser();
  if (stats.isSymbolicLink()) throw refusal(path, 'it is a symbolic link: put the file itself there');
  if (!stats.isFile()) throw refusal(path, stats.isDirectory() ? 'it is a folder, not a file' : 'it is not a file');
  if (user === undefined) return;
  // In a container, root may read a mounted folder of a user, but in it no file of yet another user.
  const isMounted = user === 0 && stats.uid === statSync(dirname(path)).uid;
  if (!isOursOrRoots(stats.uid) && !isMounted) {
    throw refusal(path, `it belongs to another user (uid ${stats.uid}): use a file in a folder of your own`);
  }
  if ((stats.mode & writableByOthers) !== 0) {
    const hint = `chmod go-w ${shellWord(path)}`;
    throw refusal(path, 'others can write to it: check that it was not changed', { hint });
  }
}

function narrow(path: string, { mode }: Stats): string | undefined {
  if (effectiveUser() === undefined || (mode & ofOthers) === 0) return undefined;
  const exposed = `${path} can be read by others, and its permissions can't be changed: run chmod 600 as its owner`;
  try {
    chmodSync(path, 0o600);
    return `${path} could be read by others. It is now private (0600)`;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return exposed;
  }
}

/**
 * Makes a folder of this user private, with all that is in it, if only a group of this process can write to it, too.
 * Kubernetes (`fsGroup`) lets such a group write to all files of a volume, each time that a container starts.
 * @returns a warning; undefined if nothing was changed
 */
export function narrowGroup(folder: string): string | undefined {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined || !isOfOwnGroup(stats)) return undefined;
    for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
      const path = join(folder, name);
      const found = lstatSync(path);
      if (isOfOwnGroup(found)) chmodSync(path, found.isDirectory() ? 0o700 : 0o600);
    }
    return `The group ${stats.gid} could write to ${folder}. It is now private (0700), with the files in it`;
  } catch (error) {
    // Who uses the folder reports that it can't be used.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** The variable that names each folder. */
const variables = { config: 'PETSTOCK_CONFIG_DIR', state: 'PETSTOCK_STATE_DIR' } as const;

/**
 * Returns a POSIX shell command that makes petstock use another folder, which can be created: one below a folder of
 * another user, such as the mount point of a volume, or one in the home folder. It moves no files.
 */
export function otherFolderHint(kind: keyof typeof variables, folder: string): string {
  const name = `.petstock-${kind}`;
  const account = accountHome();
  let other = '<a folder that you can write to>';
  if (mayCreateIn(folder) && statSync(folder).uid !== effectiveUser()) other = shellWord(join(folder, 'petstock'));
  else if (mayCreateIn(homedir())) other = `"$HOME/${name}"`;
  else if (account !== undefined && mayCreateIn(account)) other = shellWord(join(account, name));
  return `export ${variables[kind]}=${other}`;
}

/** Returns an error about a folder with the hint to use another one, unless it has a hint. */
export function withFolderHint(error: unknown, kind: keyof typeof variables, folder: string): unknown {
  const lacksHint = error instanceof FailureError && error.hint === undefined;
  return lacksHint ? error.with({ hint: otherFolderHint(kind, folder) }) : error;
}

function mayCreateIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

/** Reports whether a file of this user is open to one group, in which this process is. */
function isOfOwnGroup({ uid, gid, mode }: Stats): boolean {
  if (uid !== effectiveUser() || (mode & writableByOthers) !== writableByGroup) return false;
  // biome-ignore lint/style/noRestrictedGlobals: an import would copy all properties of the process, 0.2 ms
  return process.getegid?.() === gid || process.getgroups?.().includes(gid) === true;
}

function refusal(path: string, reason: string, options: { hint?: string; cause?: unknown } = {}): FailureError {
  return new FailureError(`The file ${path} can't be used: ${reason}`, options);
}

/**
 * Creates a folder and its missing parents for this user only (0700). This function creates all folders. Several
 * processes may create the same one at once. An existing folder is never changed: it is used if it belongs to this user
 * and only this user can write to it. Others may list it (0755): the files in it are 0600.
 *
 * On Windows a folder has the permissions of its parent, and petstock only checks that it is a folder.
 * @throws FailureError if it can't be created, is not a folder, belongs to another user or can be written to by others
 */
export function makePrivateFolder(path: string): void {
  make(path);
  check(path, (owner) => owner === effectiveUser());
}

/**
 * Rejects a folder that others can write to, because they could have put keys there. A missing folder is accepted, and
 * so is a folder of root (`/etc/petstock`). Root reads the folders of all users.
 * @throws FailureError if it is not a folder, belongs to another user, or can be written to by others
 */
export function requirePrivateFolder(path: string): void {
  check(path, (owner) => isOursOrRoots(owner) || effectiveUser() === 0);
}

/**
 * Creates a folder and its missing parents. `recursive` is not used, because on Node 20 it hangs in a folder that
 * accepts no folders, such as /proc.
 */
function make(path: string): void {
  if (tryToMake(path)) return;
  const parent = dirname(path);
  if (parent !== path) make(parent);
  if (!tryToMake(path)) throw failure(path, `no folder can be created in ${parent}`);
}

/** @returns false if the parent folder is missing, or accepts no folders */
function tryToMake(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    if (code === 'ENOTDIR') throw failure(path, 'a part of its path is a file', error);
    // Windows, and macOS for the root of a disk, refuse to create a folder without checking whether it exists.
    if (statsOf(path, statSync)?.isDirectory() === true) return true;
    throw failure(path, fileErrorReason(error), error);
  }
}

function check(path: string, isAccepted: (owner: number) => boolean): void {
  const link = statsOf(path, lstatSync);
  if (link === undefined) return;
  if (link.isSymbolicLink() && !isOursOrRoots(link.uid)) {
    throw failure(path, `it is a symbolic link of another user (uid ${link.uid}): choose a folder of your own`);
  }
  const stats = statsOf(path, statSync);
  if (stats === undefined)
    throw failure(path, 'it is a symbolic link whose target does not exist: create the target, or remove the link');
  if (!stats.isDirectory()) throw failure(path, 'it is not a folder');
  if (effectiveUser() === undefined) return;
  // Checked before the owner, because the shared temporary folder belongs to root, and root must not use it either.
  if ((stats.mode & sticky) !== 0 && (stats.mode & writableByOthers) !== 0) {
    throw failure(path, `all users share it: choose a folder below it, such as ${join(path, 'petstock')}`);
  }
  if (!isAccepted(stats.uid)) {
    throw failure(path, `it belongs to another user (uid ${stats.uid}): choose a folder of your own`);
  }
  if ((stats.mode & writableByOthers) !== 0) {
    throw failure(path, `others can write to it: run chmod go-w ${shellWord(path)}, or choose another folder`);
  }
}

function statsOf(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw failure(path, readErrorReason(error), error);
  }
}

function failure(path: string, reason: string, cause?: unknown): FailureError {
  return new FailureError(`The folder ${path} can't be used: ${reason}`, { cause });
}
