import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../.ci/commands.ts';
import { manifest, repository } from './installation.ts';
import { newFolder } from './new-folder.ts';

let packed: string | undefined;

/** Returns the path of the package as it is published. Packs `dist` as it is, and builds it first if there is none. */
export function tarball(): string {
  if (packed !== undefined) return packed;
  if (!existsSync(join(repository, 'dist/petstock.cjs'))) npm(repository, 'run', 'build');
  const folder = newFolder();
  npm(repository, 'exec', '--', 'tsx', '.ci/release/pack.ts', folder);
  packed = join(folder, `petstock-${manifest.version}.tgz`);
  return packed;
}
