import { accessSync, constants, type Stats, statfsSync, statSync } from 'node:fs';
import { effectiveUser } from '../../shared/effective-user.ts';
import { fileErrorReason, systemCode } from '../../shared/file-error.ts';

export interface FolderFacts {
  readonly path: string;
  /** `0700`; null where it does not exist yet, or the system has no such rights. */
  readonly mode: string | null;
  /** What this user may do there. `missing`: it is made when it is needed. */
  readonly rights: 'read and write' | 'read only' | 'none' | 'missing';
  /** It belongs to this user. null: not known. */
  readonly isOwn: boolean | null;
  /** On its disk, in bytes. null: not known. */
  readonly free: number | null;
  /** Why it can't be looked at. */
  readonly problem: string | null;
}

/** What is known of a folder. Changes nothing. */
export function folderFacts(path: string): FolderFacts {
  const nothing = { path, mode: null, isOwn: null, free: null, problem: null };
  try {
    const stats = statSync(path);
    const user = effectiveUser();
    return {
      ...nothing,
      mode: user === undefined ? null : modeOf(stats),
      rights: rightsTo(path),
      isOwn: user === undefined ? null : stats.uid === user,
      free: freeOn(path),
      problem: stats.isDirectory() ? null : 'it is not a folder',
    };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { ...nothing, rights: 'missing' };
    return { ...nothing, rights: 'none', problem: fileErrorReason(error) };
  }
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function rightsTo(path: string): FolderFacts['rights'] {
  const may = (mode: number) => {
    try {
      accessSync(path, mode);
      return true;
    } catch {
      return false;
    }
  };
  if (!may(constants.R_OK | constants.X_OK)) return 'none';
  return may(constants.W_OK) ? 'read and write' : 'read only';
}

function freeOn(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}
