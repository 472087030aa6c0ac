import { execFile } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bare } from './children.ts';
import { type Folder, temporaryFolder } from './folders.ts';

/** A Node to start things with. */
export interface Runtime {
  /** `20.20.2` */
  readonly version: string;
  /** Its executable. */
  readonly node: string;
}

export const thisNode: Runtime = { version: process.versions.node, node: process.execPath };

/**
 * The release lines that a benchmark is for besides the one that runs it: those of `--nodes 20,22,24`, or all of these.
 */
export function otherLines(wanted = '20,22,24'): readonly string[] {
  const [own = ''] = thisNode.version.split('.');
  return wanted.split(',').filter((line) => line !== own && line !== '');
}

/**
 * Installs release lines of Node, such as `24`, from the registry into a folder.
 *
 * @throws when there is no such line for this machine
 */
export async function installNodes(
  lines: readonly string[],
): Promise<{ runtimes: readonly Runtime[]; folder: Folder }> {
  const folder = temporaryFolder();
  if (lines.length === 0) return { runtimes: [], folder };
  const name = `node-${process.platform}-${process.arch}`;
  const aliases = lines.map((line) => ({ alias: `node${line}`, spec: `node${line}@npm:${name}@${line}` }));
  writeFileSync(join(folder.path, 'package.json'), '{"private":true}');
  // All at once: npm would take away what an earlier call has installed without saving it.
  const args = ['install', '--no-audit', '--no-fund', '--no-save', ...aliases.map(({ spec }) => spec)];
  const run = promisify(execFile);
  await run('npm', args, { cwd: folder.path, env: bare(), timeout: 120_000 });
  const runtimes: Runtime[] = [];
  for (const { alias } of aliases) {
    const node = join(folder.path, 'node_modules', alias, 'bin', 'node');
    const { stdout } = await run(node, ['--version']);
    runtimes.push({ version: stdout.trim().replace(/^v/, ''), node });
  }
  return { runtimes, folder };
}

/** npm's own script, without what the shell or a version manager puts before it; undefined where it is not beside Node. */
export function npmScript(): string | undefined {
  const beside = join(dirname(process.execPath), 'npm');
  return existsSync(beside) ? realpathSync(beside) : undefined;
}
