import { execFileSync } from 'node:child_process';
import { version } from '../../package.json';

/** When the commit was made, in seconds: what is built of it carries that time. A tree that is no clone has the time 0. */
export function committedAt(root: string): number {
  return Number(git(root, 'log', '-1', '--format=%ct') ?? 0);
}

/** Returns the constants of a build: the commit, such as `8c639f0`, if it is not the one that is tagged as this version. */
export function buildConstants(root: string): Readonly<Record<string, string>> {
  const commit = git(root, 'rev-parse', '--short=7', 'HEAD');
  const tags = git(root, 'tag', '--points-at', 'HEAD')?.split('\n') ?? [];
  return commit === undefined || tags.includes(`v${version}`) ? {} : { COMMIT: JSON.stringify(commit) };
}

/** Undefined outside a clone. */
function git(cwd: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}
