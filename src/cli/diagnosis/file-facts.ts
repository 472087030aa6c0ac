import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { effectiveUser } from '../../shared/account.ts';
import { fileErrorReason, systemCode } from '../../shared/file-error.ts';
import type { Context } from '../context.ts';

export interface FolderFacts {
  readonly path: string;
  /** `0700`; null if it does not exist yet, or the system has no such rights. */
  readonly mode: string | null;
  /** The rights of this user there. `missing`: it is made when it is needed. */
  readonly rights: 'read and write' | 'read only' | 'none' | 'missing';
  /** It belongs to this user. null: not known. */
  readonly isOwn: boolean | null;
  /** On its disk, in bytes. null: not known. */
  readonly free: number | null;
  /** Why it can't be looked at. */
  readonly problem: string | null;
}

export function folderFacts(path: string): FolderFacts {
  const nothing = { path, mode: null, isOwn: null, free: null, problem: null };
  try {
    const stats = statSync(path);
    const user = effectiveUser();
    return {
      ...nothing,
      mode: user === undefined ? null : (stats.mode & 0o7777).toString(8).padStart(4, '0'),
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

export interface CompletionFacts {
  readonly shell: 'bash' | 'zsh' | 'fish';
  /** The file that installs it: a script that the shell finds, or a file of its settings that asks for it. */
  readonly path: string;
}

/** Where the completion of each shell is installed, as far as it is in a usual place. PowerShell keeps its profile in no such place. */
export function completionFacts(env: Context['env']): readonly CompletionFacts[] {
  const home = env.HOME ?? '';
  const data = env.XDG_DATA_HOME ?? join(home, '.local', 'share');
  const config = env.XDG_CONFIG_HOME ?? join(home, '.config');
  const roots = ['/usr/share', '/usr/local/share', '/opt/homebrew/share'];
  const scripts = {
    bash: [data, ...roots].map((root) => join(root, 'bash-completion', 'completions', 'petstock')),
    zsh: roots.flatMap((root) =>
      ['site-functions', 'vendor-completions'].map((kind) => join(root, 'zsh', kind, '_petstock')),
    ),
    fish: [
      join(config, 'fish', 'completions', 'petstock.fish'),
      ...roots.map((root) => join(root, 'fish', 'vendor_completions.d', 'petstock.fish')),
    ],
  };
  const settings = {
    bash: ['.bashrc', '.bash_profile', '.profile'].map((name) => join(home, name)),
    zsh: [join(env.ZDOTDIR ?? home, '.zshrc')],
    fish: [join(config, 'fish', 'config.fish')],
  };
  return (['bash', 'zsh', 'fish'] as const).flatMap((shell) => {
    const path =
      scripts[shell].find((file) => existsSync(file)) ?? settings[shell].find((file) => asksForIt(file, shell));
    return path === undefined ? [] : [{ shell, path }];
  });
}

function asksForIt(file: string, shell: string): boolean {
  try {
    return new RegExp(`^[^#\\n]*petstock completion ${shell}`, 'm').test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}
