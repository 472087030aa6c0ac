import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hostName } from '../../../.ci/release/runtime.ts';
import { bare } from './children.ts';
import { temporaryFolder } from './folders.ts';

/** The program as an executable of its own. */
export interface Executable {
  readonly path: string;
  remove(): void;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Builds the executable for this machine from the sources of now.
 * @throws where what it is made with can't be had from the registry
 */
export async function buildExecutable(): Promise<Executable> {
  const { path: folder, remove } = temporaryFolder();
  const name = hostName();
  try {
    const script = ['--import', 'tsx', '.ci/release/build-binaries.ts', name, '--out', folder];
    await promisify(execFile)(process.execPath, script, { cwd: root, env: bare(), timeout: 300_000 });
  } catch (error) {
    remove();
    throw error;
  }
  return { path: join(folder, `petstock-${name}${name.startsWith('windows') ? '.exe' : ''}`), remove };
}
