import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { npm } from '../../.ci/commands.ts';

export const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The manifest of the package that is installed. */
export const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as Manifest;

/**
 * A machine that has never seen petstock. It has its own home, caches and folders, which are removed when the test is
 * finished.
 */
export interface Machine {
  readonly folder: string;
  /** Folders that come first in its PATH, for programs to run instead of those of this process. */
  readonly path: readonly string[];
}

/** @param path folders of programs that come before those of this process */
export function newMachine(path: readonly string[] = []): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-install-'));
  // Installers leave folders without write permission.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  // Without this file, npm would use a folder further up as the project.
  writeJson(join(folder, 'package.json'), { name: 'machine', private: true });
  return { folder, path };
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command on a machine to its end.
 * @param command the words of the command; the first may be a path
 * @throws Error with all output, if the command fails
 */
export function runOn(machine: Machine, command: readonly string[], cwd = machine.folder): Promise<Output> {
  const [file = '', ...args] = command;
  const options = { cwd, env: environmentOf(machine), maxBuffer: 1e8, encoding: 'utf8' } as const;
  return new Promise((resolve, reject) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, stderr });
      else reject(new Error(`${command.join(' ')} failed (${error.code ?? error.signal}):\n${stdout}${stderr}`));
    });
  });
}

/** Creates a folder on the machine for a project that uses petstock. */
export function newProject({ folder }: Machine): string {
  const project = join(folder, 'consumer');
  mkdirSync(project);
  writeJson(join(project, 'package.json'), { name: 'consumer', private: true, type: 'module' });
  return project;
}

export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Returns the environment of a machine. Only variables about how to reach the registry come from this process: address,
 * proxies, authorities.
 */
function environmentOf({ folder, path }: Machine): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(LANG|TZ|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|\w*_proxy)$/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    PATH: [...path, process.env.PATH ?? ''].join(delimiter),
    HOME: folder,
    NPM_CONFIG_USERCONFIG: join(homedir(), '.npmrc'),
    npm_config_cache: join(folder, '.cache', 'npm'),
    npm_config_update_notifier: 'false',
    XDG_DATA_HOME: join(folder, '.local', 'share'),
    XDG_CACHE_HOME: join(folder, '.cache'),
    XDG_CONFIG_HOME: join(folder, '.config'),
    XDG_STATE_HOME: join(folder, '.local', 'state'),
  };
}

let packed: string | undefined;

/** Returns the path of the package as it is published. Packs `dist` as it is, and builds it first if there is none. */
export function tarball(): string {
  if (packed !== undefined) return packed;
  if (!existsSync(join(repository, 'dist/petstock.cjs'))) npm(repository, 'run', 'build');
  // A worker of vitest may be killed, so nothing is left outside: the next run of that worker replaces the file.
  const folder = join(repository, 'node_modules/.cache/petstock', `packed-${process.env.VITEST_POOL_ID}`);
  npm(repository, 'exec', '--', 'tsx', '.ci/release/pack.ts', folder);
  packed = join(folder, `petstock-${manifest.version}.tgz`);
  return packed;
}
