import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { type Folders, resolveFolders } from '../src/settings/folders.ts';

/** The folders of this process. */
export function foldersOf(env: NodeJS.ProcessEnv): Folders {
  // An empty or relative HOME would put keys into whatever folder this is.
  const home = isAbsolute(homedir()) ? homedir() : userInfo().homedir;
  return resolveFolders({ env, platform: process.platform, home });
}
