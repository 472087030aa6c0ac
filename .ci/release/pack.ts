import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import own from '../../package.json';
import { newFolder, npm, root } from '../commands.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build:package`: packs `dist` as it is into the tarball that is published,
 * `dist/packages/petstock-<version>.tgz`, and writes its SBOM, `petstock-<version>.tgz.cdx.json`. Its manifest leaves
 * out everything for development: npm warns about a `prepare` that it has not run, and scanners report vulnerabilities
 * of dev dependencies. It also leaves out the bundled packages, because they would be installed a second time; its
 * `//dependencies` explains this.
 */
const { scripts, dependencies, devDependencies, devEngines, allowScripts, overrides, resolutions, ...manifest } = own;
const [out, folder] = [join(root, 'dist/packages'), newFolder()];
const filter = (path: string) => !/[\\/]dist[\\/](binaries|packages|release)$/.test(path);
for (const name of ['dist', 'docs', 'README.md', 'LICENSE', 'CHANGELOG.md'])
  cpSync(join(root, name), join(folder, name), { recursive: true, filter });
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
// The tarball contains the modes of files, so they must not depend on the umask of the checkout.
execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
mkdirSync(out, { recursive: true });
process.stdout.write(`package: ${npm(folder, 'pack', '--ignore-scripts', '--pack-destination', out)}`);
const licences = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
writeFileSync(join(out, `petstock-${own.version}.tgz.cdx.json`), sbomOf(licences));
