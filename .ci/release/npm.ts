import { execFileSync } from 'node:child_process';

/** Runs npm without the settings of the npm that may have started this. @returns its stdout */
export function npm(args: readonly string[], cwd: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const shell = process.platform === 'win32';
  return execFileSync('npm', args, {
    cwd,
    env,
    shell,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1e8,
  });
}
