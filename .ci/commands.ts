import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
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
  // Wine's server may still be writing to the folder.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Returns the checksums of all files in a folder, in the format of `sha256sum`. */
export function sumsOf(folder: string): string {
  const names = readdirSync(folder).sort();
  return names.map((name) => `${hash('sha256', readFileSync(join(folder, name)))}  ${name}\n`).join('');
}

/**
 * Downloads a package from the registry, once, into `node_modules/.cache`. This is for packages that only executables
 * need: every `npm ci` would download them if they were dependencies.
 * @param spec the package and its version, such as `@oven/bun-linux-aarch64@1.4.4`
 * @param integrity the hash of its tarball
 * @returns the folder of the package
 * @throws Error if the tarball does not have that hash
 */
export function fetchPackage(spec: string, integrity: string): string {
  const cache = join(root, 'node_modules/.cache/packages');
  const folder = join(cache, spec.replace(/[/@]/g, '-'));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  const [packed] = JSON.parse(npm(unfinished, 'pack', '--json', '--ignore-scripts', spec));
  if (packed.integrity !== integrity)
    throw new Error(`${spec} does not have the pinned hash. Its hash is ${packed.integrity}`);
  execFileSync('tar', ['-xzf', packed.filename.replace('@', '').replace('/', '-')], { cwd: unfinished });
  if (!existsSync(folder)) renameSync(join(unfinished, 'package'), folder);
  rmSync(unfinished, { recursive: true });
  return folder;
}

/** The page of the repository in `package.json`, such as `https://github.com/ann/petstock`; a release sets it. */
export const homepage: string | undefined = (own as { readonly homepage?: string }).homepage?.replace(/#.*$/, '');

/**
 * Returns a template of `docs/packaging` with each `{{word}}` replaced by its value.
 * @throws Error that names a word without a value
 */
export function filled(name: string, words: Readonly<Record<string, string>>): string {
  const template = readFileSync(join(root, 'docs/packaging', name), 'utf8');
  return template.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, word: string) => {
    const value = words[word];
    if (value !== undefined) return value;
    throw new Error(`docs/packaging/${name}: the word ${word} has no value`);
  });
}
