import { execFileSync } from 'node:child_process';

/** When the commit was made, in seconds: what is built of it carries that time. A tree that is no clone has the time 0. */
export function committedAt(root: string): number {
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return 0;
  }
}
