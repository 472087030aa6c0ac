import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { type FolderSources, type Folders, resolveFolders, usualFolder } from '../src/settings/folders.ts';

export function foldersOf(env: NodeJS.ProcessEnv): Folders {
  return resolveFolders(sourcesOf(env));
}

/** Returns the folder for files that can be created again. */
export function cacheFolderOf(env: NodeJS.ProcessEnv): string {
  return usualFolder('cache', sourcesOf(env));
}

const sourcesOf = (env: NodeJS.ProcessEnv): FolderSources => ({ env, platform: process.platform, home });

/**
 * Returns the home folder; undefined if there is none, as in a container. An empty or relative HOME is ignored, because
 * it would put keys into the current folder.
 */
function home(): string | undefined {
  for (const ask of [homedir, () => userInfo().homedir]) {
    try {
      const folder = ask();
      if (isAbsolute(folder)) return folder;
    } catch {
      // Node throws if the user has no account.
    }
  }
  return undefined;
}
