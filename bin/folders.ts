import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { cacheFolder, type FolderSources, type Folders, resolveFolders } from '../src/settings/folders.ts';
import { ownAccount } from '../src/shared/account.ts';

/** The folders of this process. */
export function foldersOf(env: NodeJS.ProcessEnv): Folders {
  return resolveFolders(sourcesOf(env));
}

/** Where this process keeps what can be made again. */
export function cacheFolderOf(env: NodeJS.ProcessEnv): string {
  return cacheFolder(sourcesOf(env));
}

const sourcesOf = (env: NodeJS.ProcessEnv): FolderSources => ({ env, platform: process.platform, home });

/** An empty or relative HOME would put keys into whatever folder this is. In a container there may be no home at all. */
function home(): string | undefined {
  for (const ask of [homedir, () => userInfo().homedir, () => ownAccount()?.home]) {
    try {
      const folder = ask();
      if (folder !== undefined && isAbsolute(folder)) return folder;
    } catch {
      // Node throws if the user has no account.
    }
  }
  return undefined;
}
