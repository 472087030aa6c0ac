import { accessSync, closeSync, constants, existsSync, openSync, renameSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { FailureError } from '../../shared/errors.ts';
import { localFolderHint } from '../other-folder.ts';
import { companions, inodeOf } from './connection.ts';

/** NFS, SMB (three numbers), 9P, Ceph, AFS, Lustre and FUSE: the locks that SQLite relies on can't be trusted there. */
const remoteFileSystems = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x65735546,
]);

export function stateFile(folder: string): string {
  return join(folder, 'state.db');
}

/** @returns what `statfs` says of the kind of a file system */
export function fileSystemOf(folder: string): number {
  return statfsSync(folder).type;
}

/** @param type of a file system. @param isRemote what else shows that. @throws FailureError for one on a network */
export function requireLocal(folder: string, type: number, isRemote: boolean): void {
  if (!remoteFileSystems.has(type) && !isRemote) return;
  throw new FailureError(`The state folder ${folder} is on a network file system, where locks can't be relied on`, {
    hint: localFolderHint,
  });
}

/** @throws the error of `node:fs` where the folder, or the state in it, can't be written */
export function requireWritable(folder: string): void {
  accessSync(folder, constants.W_OK | constants.X_OK);
  const file = stateFile(folder);
  if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
}

/** Makes an empty file for this user alone; SQLite gives what it keeps beside it the same mode. */
export function createStateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

/**
 * Moves a damaged state out of the way.
 * @param inode of the file that was found damaged: another process may have begun a new one since
 * @param time for its new name
 * @returns its new path; undefined where another one has its name by now
 */
export function moveAside(file: string, inode: bigint | undefined, time: string): string | undefined {
  if (inode === undefined || inodeOf(file) !== inode) return undefined;
  const aside = `${file}.damaged-${time}`;
  for (const suffix of ['', ...companions]) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  return aside;
}
