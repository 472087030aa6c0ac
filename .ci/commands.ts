import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { version } from '../package.json';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

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

/** Returns what git prints, or undefined if it fails, as it does outside a clone. */
export function fromGit(cwd: string, ...args: readonly string[]): string | undefined {
  try {
    return git(cwd, ...args);
  } catch {
    return undefined;
  }
}

/** Returns the files that differ from where the branch left main; undefined if there is no main to compare with. */
export function changedFiles(): readonly string[] | undefined {
  const base = process.env.GITHUB_BASE_REF;
  const fork = fromGit(root, 'merge-base', base ? `origin/${base}` : 'main', 'HEAD');
  return fork === undefined ? undefined : fromGit(root, 'diff', '--name-only', fork)?.split('\n');
}

/** When the commit was made, in seconds: what is built of it carries that time. A tree that is no clone has the time 0. */
export function committedAt(): number {
  return Number(fromGit(root, 'log', '-1', '--format=%ct') ?? 0);
}

/** Returns the constants of a build: the commit, such as `8c639f0`, if it is not the one that is tagged as this version. */
export function buildConstants(folder: string): Readonly<Record<string, string>> {
  const commit = fromGit(folder, 'rev-parse', '--short=7', 'HEAD');
  const tags = fromGit(folder, 'tag', '--points-at', 'HEAD')?.split('\n') ?? [];
  return commit === undefined || tags.includes(`v${version}`) ? {} : { COMMIT: JSON.stringify(commit) };
}

/** Makes a folder, which goes when this process ends; below `node_modules` unless `parent` is another place. */
export function newFolder(parent = join(root, 'node_modules/.cache')): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'petstock-release-'));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];
process.once('exit', () => {
  // Wine's server may still be writing there.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** The sums of all files of a folder, as `sha256sum` prints them, and takes them with `--check`. */
export function sumsOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name !== 'SHA256SUMS');
  const sum = (name: string) => createHash('sha256').update(readFileSync(join(folder, name)));
  return names
    .sort()
    .map((name) => `${sum(name).digest('hex')}  ${name}\n`)
    .join('');
}

/**
 * Brings a package from the registry, once: it is kept below `node_modules/.cache`. For what is large and of one system, which
 * every `npm ci` would bring otherwise.
 * @param spec `@oven/bun-linux-aarch64@1.4.4`
 * @param integrity of its tarball
 * @returns its folder
 * @throws Error if the tarball is not the one that was pinned
 */
export function fetchPackage(spec: string, integrity: string): string {
  const folder = join(root, 'node_modules/.cache/packages', spec.replace(/[/@]/g, '-'));
  if (existsSync(folder)) return folder;
  const unfinished = newFolder();
  const [{ filename }] = JSON.parse(npm(unfinished, 'pack', '--json', '--ignore-scripts', spec));
  const tarball = join(unfinished, filename.replace('@', '').replace('/', '-'));
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${spec} is not the pinned one: ${found}`);
  execFileSync('tar', ['-xzf', tarball, '-C', unfinished]);
  mkdirSync(join(folder, '..'), { recursive: true });
  if (!existsSync(folder)) renameSync(join(unfinished, 'package'), folder);
  return folder;
}
