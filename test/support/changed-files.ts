import process from 'node:process';
import { fromGit, root } from '../../.ci/commands.ts';

/** Returns the files that have changed since the branch left main; undefined if there is no main to compare with. */
export function changedFiles(): readonly string[] | undefined {
  const base = process.env.GITHUB_BASE_REF;
  const fork = fromGit(root, 'merge-base', base ? `origin/${base}` : 'main', 'HEAD');
  return fork === undefined ? undefined : fromGit(root, 'diff', '--name-only', fork)?.split('\n');
}
