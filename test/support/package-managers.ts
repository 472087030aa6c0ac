import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../.ci/commands.ts';
import { writeJson } from './installation.ts';

export type Manager = 'pnpm' | 'yarn1' | 'yarn4';

/**
 * Installs package managers from the registry.
 * @param folder an empty folder
 * @returns the command that runs each package manager
 */
export function packageManagers(folder: string): Record<Manager, readonly string[]> {
  install(folder, ['pnpm@12', 'yarn@1', '@yarnpkg/cli-dist@4']);
  const modules = join(folder, 'node_modules');
  return {
    pnpm: [join(modules, '.bin/pnpm')],
    yarn1: ['node', join(modules, 'yarn/bin/yarn.js')],
    yarn4: ['node', join(modules, '@yarnpkg/cli-dist/bin/yarn.js')],
  };
}

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
