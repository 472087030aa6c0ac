import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'tsup';
import { bare, temporaryFolder } from './children.ts';
import { type Measure, startMeasurer } from './measure.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** Builds the published bundle from the current sources. Returns the script for `node`. */
export async function buildProject(): Promise<{ readonly program: string }> {
  // The folder is below node_modules, so that Node finds the dependencies that are not bundled.
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const outDir = temporaryFolder(cache);
  await build({ outDir, silent: true });
  return { program: join(outDir, 'petstock.cjs') };
}

/** The program to measure, with the tools that every benchmark of commands needs. */
export interface Workshop {
  readonly program: string;
  readonly measure: Measure;
  /** The folder for the program's state and for other files. */
  readonly folder: string;
}

export async function openWorkshop(): Promise<Workshop> {
  const { program } = await buildProject();
  return { program, measure: await startMeasurer(), folder: temporaryFolder() };
}

/** Installs packages from the registry, in one call of npm. Returns the path of the new folder that contains them. */
export async function installPackages(specs: readonly string[]): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const args = ['install', '--no-audit', '--no-fund', '--no-save', ...specs];
  if (specs.length > 0) await run('npm', args, { cwd: folder, env: bare(), timeout: 120_000 });
  return folder;
}

/**
 * Installs release lines of Node, such as `24`.
 * @throws Error if a line has no release for this machine
 */
export async function installNodes(lines: readonly string[]): Promise<readonly { version: string; node: string }[]> {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await installPackages(lines.map((line) => `node${line}@npm:${name}@${line}`));
  const nodes = lines.map((line) => join(folder, 'node_modules', `node${line}`, 'bin', 'node'));
  return Promise.all(
    nodes.map(async (node) => ({ node, version: (await run(node, ['-p', 'process.versions.node'])).stdout.trim() })),
  );
}
