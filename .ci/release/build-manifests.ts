import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { description, homepage as home, version } from '../../package.json';
import { filled, root } from '../commands.ts';

/**
 * `npm run build:manifests`: a formula for Homebrew and a manifest for Scoop in `dist/packages`, of the templates in
 * `docs/packaging` and the sums of `dist/binaries/SHA256SUMS`: `npm run build:binaries -- --archives` makes all that they name.
 */
const homepage = home.replace(/#.*$/, '');
const sums = readFileSync(join(root, 'dist/binaries/SHA256SUMS'), 'utf8').trim().split('\n');
const words = {
  ...{ version, description, homepage, downloads: `${homepage}/releases/download/v${version}` },
  // `petstock-linux-x64.tar.gz` and its sum, and so on.
  ...Object.fromEntries(sums.map((line) => line.split(/ +/).reverse())),
};
mkdirSync(join(root, 'dist/packages'), { recursive: true });
for (const name of ['petstock.rb', 'petstock.json']) {
  writeFileSync(join(root, 'dist/packages', name), filled(name, words));
  process.stdout.write(`manifests: dist/packages/${name}\n`);
}
