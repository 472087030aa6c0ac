import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import own from '../../package.json';
import { newFolder, npm, root } from '../commands.ts';

/**
 * `tsx .ci/release/pack.ts [<folder>]` packs `dist` as it is into the tarball that is published,
 * `<folder>/petstock-<version>.tgz` (default: `dist/packages`). Its manifest leaves out everything for development: npm
 * warns about a `prepare` that it has not run, and scanners report vulnerabilities of dev dependencies. It also leaves
 * out the bundled packages, because they would be installed a second time; its `//dependencies` explains this.
 */
const { scripts, dependencies, devDependencies, devEngines, allowScripts, overrides, ...manifest } = own;
const [out, folder] = [resolve(process.argv[2] ?? join(root, 'dist/packages')), newFolder()];
const filter = (path: string) => !/[\\/]dist[\\/](packages|release)$/.test(path);
for (const name of ['dist', 'docs', 'README.md', 'LICENSE', 'CHANGELOG.md'])
  cpSync(join(root, name), join(folder, name), { recursive: true, filter });
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
// The tarball contains the modes of files, so they must not depend on the umask of the checkout.
execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
mkdirSync(out, { recursive: true });
process.stdout.write(`package: ${npm(folder, 'pack', '--ignore-scripts', '--pack-destination', out)}`);
