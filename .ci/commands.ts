import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import own from '../package.json';

const { version } = own;

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs npm, and returns its stdout. @throws Error with its stderr */
export function npm(cwd: string, ...args: readonly string[]): string {
  return run('npm', cwd, args, process.platform === 'win32');
}

/** Runs git, and returns its stdout. @throws Error with its stderr */
export function git(cwd: string, ...args: readonly string[]): string {
  return run('git', cwd, args).trim();
}

/** Runs a program without the environment of the npm command or git hook that may have started this process. */
function run(program: string, cwd: string, args: readonly string[], shell = false): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|GIT_)/i.test(name)));
  return execFileSync(program, args, { cwd, env, shell, encoding: 'utf8', maxBuffer: 1e8, stdio: 'pipe' });
}

/** Returns the output of git, or undefined if it fails, for example outside a clone. */
export function fromGit(cwd: string, ...args: readonly string[]): string | undefined {
  try {
    return git(cwd, ...args);
  } catch {
    return undefined;
  }
}

/**
 * Returns the timestamp of everything that is built: SOURCE_DATE_EPOCH, otherwise the time of the commit; 1970 outside
 * a clone.
 */
export function committedAt(): Date {
  return new Date(Number(process.env.SOURCE_DATE_EPOCH ?? fromGit(root, 'log', '-1', '--format=%ct') ?? 0) * 1000);
}

/** Returns the constants of a build: the commit, such as `8c639f0`, unless the commit is tagged as this version. */
export function buildConstants(folder: string): Readonly<Record<string, string>> {
  const commit = fromGit(folder, 'rev-parse', '--short=7', 'HEAD');
  const tags = fromGit(folder, 'tag', '--points-at', 'HEAD')?.split('\n') ?? [];
  return commit === undefined || tags.includes(`v${version}`) ? {} : { COMMIT: JSON.stringify(commit) };
}

/** Creates a folder that is removed when this process exits. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-release-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the checksums of all files in a folder, in the format of `sha256sum`. */
export function sumsOf(folder: string): string {
  const names = readdirSync(folder).sort();
  return names.map((name) => `${hash('sha256', readFileSync(join(folder, name)))}  ${name}\n`).join('');
}
