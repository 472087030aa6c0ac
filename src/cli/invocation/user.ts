import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import type { Folders } from '../../settings/folders.ts';
import { ownAccount } from '../../shared/account.ts';
import { effectiveUser } from '../../shared/effective-user.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Context } from '../context.ts';

/** Returns who runs this, for the history and for others; undefined if there is no name. */
export function userOf(env: Context['env']): string | undefined {
  const named = env.USER ?? env.LOGNAME ?? env.USERNAME;
  if (named !== undefined && named !== '') return named;
  try {
    const { username } = userInfo();
    // The answer of an executable without USER, as with cron and in containers.
    return username === 'unknown' ? ownAccount()?.name : username;
  } catch {
    // A container may run under a number that has no name.
    return undefined;
  }
}

const root = 0;

/**
 * Refuses to work as root in the folders of the user who ran sudo: what it wrote there would belong to root, and that user's
 * own petstock could not write it any more. Nothing is read, made or given away.
 *
 * @throws UsageError
 */
export function refuseSudoInHome(folders: Folders, env: Context['env'], user = effectiveUser()): void {
  const caller = /^\d{1,10}$/.test(env.SUDO_UID ?? '') ? Number(env.SUDO_UID) : root;
  if (user !== root || caller === root) return;
  const folder = [folders.config, folders.state].find((path) => ownerOf(path) === caller);
  if (folder === undefined) return;
  throw new UsageError(
    `petstock runs as root, by sudo, and ${folder} is in a folder of uid ${caller}: what it wrote there would belong to root. Nothing was read or written`,
    { hint: 'the same command without sudo, or with sudo -H, which uses the folders of root' },
  );
}

/** Of the folder, or of the first one above it that is there. */
function ownerOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.uid;
  const parent = dirname(path);
  return parent === path ? undefined : ownerOf(parent);
}
