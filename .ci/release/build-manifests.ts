import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run build:manifests`: a formula for Homebrew and a manifest for Scoop in `dist/packages`, of the templates in
 * `docs/packaging` and the sums of `dist/binaries/SHA256SUMS`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'dist/packages');
const { version, homepage, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const page = homepage.replace(/#.*$/, '');
const words: Readonly<Record<string, string>> = {
  version,
  homepage: page,
  description,
  downloads: `${page}/releases/download/v${version}`,
  ...sums(),
};

mkdirSync(out, { recursive: true });
for (const name of ['petstock.rb', 'petstock.json']) {
  const template = readFileSync(join(root, 'docs/packaging', name), 'utf8');
  writeFileSync(
    join(out, name),
    template.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, word: string) => wordOf(word)),
  );
  process.stdout.write(`manifests: dist/packages/${name}\n`);
}

/** `petstock-linux-x64` and its sum, and so on. */
function sums(): Record<string, string> {
  const lines = readFileSync(join(root, 'dist/binaries/SHA256SUMS'), 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/ +/).reverse()));
}

function wordOf(word: string): string {
  const value = words[word];
  if (value === undefined) throw new Error(`no ${word} for a manifest: npm run build:binaries makes all executables`);
  return value;
}
