import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import own from '../../package.json';
import { newFolder, npm, root } from '../commands.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build:package`: the tarball that is published, `dist/packages/petstock-<version>.tgz`, of `dist` as it is, and what is
 * inside, `petstock-<version>.tgz.cdx.json`.
 *
 * Its manifest has nothing that is for work on petstock: npm warns of a `prepare` that it has not run, and tools that look
 * for faults report those of dev dependencies. Nor has it what is bundled: it would be installed a second time.
 */
const {
  '//dependencies': _,
  scripts,
  dependencies,
  devDependencies,
  devEngines,
  overrides,
  resolutions,
  ...manifest
} = own;
const [out, folder] = [join(root, 'dist/packages'), newFolder()];
const filter = (path: string) => !/[\\/]dist[\\/](binaries|packages|release)$/.test(path);
for (const name of ['dist', 'docs', 'README.md', 'LICENSE', 'CHANGELOG.md'])
  cpSync(join(root, name), join(folder, name), { recursive: true, filter });
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
// Those of any checkout, whatever the umask that it was made with: they are in the tarball.
execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
mkdirSync(out, { recursive: true });
process.stdout.write(`package: ${npm(folder, 'pack', '--ignore-scripts', '--pack-destination', out)}`);
const licences = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
writeFileSync(join(out, `petstock-${own.version}.tgz.cdx.json`), sbomOf(licences));
