import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';

/**
 * Returns the shells whose completion is installed in a usual place, with the file that installs it. PowerShell is left
 * out, because its profile has no usual place.
 */
export function installedCompletion(env: Context['env']) {
  const home = env.HOME ?? '';
  const data = env.XDG_DATA_HOME ?? join(home, '.local', 'share');
  const config = env.XDG_CONFIG_HOME ?? join(home, '.config');
  const roots = ['/usr/share', '/usr/local/share', '/opt/homebrew/share'];
  /** Scripts in the folders that shells search. */
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
  /** Start-up files that may load a script. */
  const settings = {
    bash: ['.bashrc', '.bash_profile', '.profile'].map((name) => join(home, name)),
    zsh: [join(env.ZDOTDIR ?? home, '.zshrc')],
    fish: [join(config, 'fish', 'config.fish')],
  };
  return (['bash', 'zsh', 'fish'] as const).flatMap((shell) => {
    const path =
      scripts[shell].find((file) => existsSync(file)) ?? settings[shell].find((file) => loadsCompletion(file, shell));
    return path === undefined ? [] : [{ shell, path }];
  });
}

function loadsCompletion(file: string, shell: string): boolean {
  try {
    return new RegExp(`^[^#\\n]*petstock completion ${shell}`, 'm').test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}
