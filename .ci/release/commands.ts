import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../package.json';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs npm without the settings of the npm that may have started this. @returns its stdout */
export function npm(cwd: string, ...args: readonly string[]): string {
  return run('npm', cwd, args, process.platform === 'win32');
}

export function git(cwd: string, ...args: readonly string[]): string {
  return run('git', cwd, args).trim();
}

/** @throws Error with what the program has said */
function run(program: string, cwd: string, args: readonly string[], shell = false): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|GIT_)/i.test(name)));
  try {
    return execFileSync(program, args, { cwd, env, shell, encoding: 'utf8', maxBuffer: 1e8, stdio: 'pipe' });
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed:\n${(stderr || stdout).trim()}`);
  }
}

/** When the commit was made, in seconds: what is built of it carries that time. A tree that is no clone has the time 0. */
export function committedAt(folder: string): number {
  return Number(found(() => git(folder, 'log', '-1', '--format=%ct')) ?? 0);
}

/** Returns the constants of a build: the commit, such as `8c639f0`, if it is not the one that is tagged as this version. */
export function buildConstants(folder: string): Readonly<Record<string, string>> {
  const commit = found(() => git(folder, 'rev-parse', '--short=7', 'HEAD'));
  const tags = found(() => git(folder, 'tag', '--points-at', 'HEAD').split('\n')) ?? [];
  return commit === undefined || tags.includes(`v${version}`) ? {} : { COMMIT: JSON.stringify(commit) };
}

/** Undefined outside a clone. */
function found<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Calls `use` with a new folder below `node_modules`, which is removed behind it. */
export async function withFolder(use: (folder: string) => void | Promise<void>): Promise<void> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'petstock-release-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sums of all files of a folder, as `sha256sum` prints them, and takes them with `--check`. */
export function sumsOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name !== 'SHA256SUMS');
  const sum = (name: string) => createHash('sha256').update(readFileSync(join(folder, name)));
  return names
    .sort()
    .map((name) => `${sum(name).digest('hex')}  ${name}\n`)
    .join('');
}
