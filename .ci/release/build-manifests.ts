import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { description, homepage, version } from '../../package.json';
import { root } from '../commands.ts';

/**
 * `npm run build:manifests`: a formula for Homebrew and a manifest for Scoop in `dist/packages`, of the templates in
 * `docs/packaging` and the sums of `dist/binaries/SHA256SUMS`.
 */
const page = homepage.replace(/#.*$/, '');
const sums = readFileSync(join(root, 'dist/binaries/SHA256SUMS'), 'utf8').trim().split('\n');
const words = new Map([
  ...Object.entries({ version, description, homepage: page, downloads: `${page}/releases/download/v${version}` }),
  // `petstock-linux-x64.tar.gz` and its sum, and so on.
  ...sums.map((line) => line.split(/ +/).reverse() as [string, string]),
]);

mkdirSync(join(root, 'dist/packages'), { recursive: true });
for (const name of ['petstock.rb', 'petstock.json']) {
  const template = readFileSync(join(root, 'docs/packaging', name), 'utf8');
  const text = template.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, word: string) => {
    const value = words.get(word);
    if (value !== undefined) return value;
    throw new Error(`dist/binaries has no ${word}: npm run build:binaries -- --archives makes all of them`);
  });
  writeFileSync(join(root, 'dist/packages', name), text);
  process.stdout.write(`manifests: dist/packages/${name}\n`);
}
