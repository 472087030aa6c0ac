import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../.ci/commands.ts';
import { manifest, repository } from './installation.ts';

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
