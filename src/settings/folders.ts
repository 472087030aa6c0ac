import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path, { dirname, posix, win32 } from 'node:path';
import { UsageError } from '../shared/errors.ts';
import { shellWord } from '../shared/hint.ts';
import { effectiveUser } from '../shared/private-files.ts';
import { type Environment, variable } from './variables.ts';

/** The absolute paths of the folders, which need not exist. Reading a property may throw, see `resolveFolders`. */
export interface Folders {
  readonly config: string;
  readonly state: string;
}

export interface FolderSources {
  readonly env: Environment;
  /** The value of `process.platform`. */
  readonly platform: string;
  /** Returns the home folder, an absolute path; undefined if this user has none. */
  home(): string | undefined;
}

/**
 * Returns the folders of the configuration and the state. `PETSTOCK_CONFIG_DIR` and `PETSTOCK_STATE_DIR` override the
 * platform's own folders. Touches no file.
 * @throws UsageError when a property of the result is read, if its variable contains a relative path (which would
 * depend on the current folder), or if there is no home folder
 */
export function resolveFolders(sources: FolderSources): Folders {
  const { env, platform } = sources;
  const paths = platform === 'win32' ? win32 : posix;
  return {
    get config() {
      return ownFolder('PETSTOCK_CONFIG_DIR', env, paths) ?? usualFolder('config', sources);
    },
    get state() {
      return ownFolder('PETSTOCK_STATE_DIR', env, paths) ?? usualFolder('state', sources);
    },
  };
}

/**
 * Returns the folder that a variable of petstock names; undefined if the variable is not set.
 * @throws UsageError for a relative path
 */
function ownFolder(name: string, env: Environment, paths: Pick<typeof path, 'isAbsolute' | 'resolve'>) {
  const folder = variable(env, name);
  if (folder === undefined || paths.isAbsolute(folder)) return folder && paths.resolve(folder);
  throw new UsageError(`${name} must be an absolute path, because a relative one depends on the current folder`, {
    hint: `export ${name}=${shellWord(paths.resolve(folder))}`,
  });
}

/** For each kind of folder on Linux, the variable of the XDG specification and the default below the home folder. */
const xdg = {
  config: ['XDG_CONFIG_HOME', '.config'],
  state: ['XDG_STATE_HOME', '.local/state'],
  cache: ['XDG_CACHE_HOME', '.cache'],
} as const;

/**
 * Returns the platform's own folder of a kind; that of the cache is for data that can be recreated.
 * @throws UsageError if there is no home folder
 */
export function usualFolder(kind: keyof typeof xdg, { env, platform, home }: FolderSources): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const atHome = (...names: readonly string[]): string => {
    const found = home();
    if (found === undefined) throw new UsageError(noHome);
    return join(found, ...names);
  };
  if (platform === 'win32') {
    const [name, folder] = kind === 'config' ? ['APPDATA', 'Roaming'] : ['LOCALAPPDATA', 'Local'];
    const ours = join(variable(env, name) ?? atHome('AppData', folder), 'petstock');
    return kind === 'cache' ? join(ours, 'cache') : ours;
  }
  if (platform === 'darwin') {
    if (kind === 'cache') return atHome('Library', 'Caches', 'petstock');
    const support = atHome('Library', 'Application Support', 'petstock');
    return kind === 'config' ? support : join(support, 'state');
  }
  const [name, usual] = xdg[kind];
  const folder = variable(env, name);
  // The XDG specification requires relative paths to be ignored.
  return join(folder !== undefined && isAbsolute(folder) ? folder : atHome(usual), 'petstock');
}

const noHome =
  'This user has no home folder, so there is no place for settings and the history. Set HOME to an absolute path, or both PETSTOCK_CONFIG_DIR and PETSTOCK_STATE_DIR.';

/** Returns the uid of the owner of a folder, or of its first existing parent; undefined if no parent can be read. */
export function ownerOf(folder: string): number | undefined {
  try {
    return statSync(folder).uid;
  } catch {
    // The folder is missing, below a file, or closed to root, so its parent shows the owner.
    const parent = dirname(folder);
    return parent === folder ? undefined : ownerOf(parent);
  }
}

/** Returns the folder for gates while the state folder can't be used, in the system's temporary folder. */
export function temporaryFolder(env: Environment): string {
  const given = variable(env, 'TMPDIR');
  const folder = given !== undefined && path.isAbsolute(given) ? given : tmpdir();
  // A container may run with a uid that has no name, and `userInfo` would throw for that uid.
  return path.join(folder, `petstock-${effectiveUser() ?? 'user'}`);
}
