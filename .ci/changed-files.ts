import { execFileSync } from 'node:child_process';
import process from 'node:process';

/** The repository. */
export const root = new URL('..', import.meta.url);

/** Returns the files that differ from where the branch left main; undefined if there is no main to compare with. */
export function changedFiles(): readonly string[] | undefined {
  const base = process.env.GITHUB_BASE_REF;
  try {
    return git('diff', '--name-only', git('merge-base', base ? `origin/${base}` : 'main', 'HEAD')).split('\n');
  } catch {
    return undefined;
  }
}

/** Returns the files under version control; none if this is no checkout. */
export function trackedFiles(): readonly string[] {
  try {
    return git('ls-files').split('\n');
  } catch {
    return [];
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
