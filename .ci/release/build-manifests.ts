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

const missing: string[] = [];
const filled = ['petstock.rb', 'petstock.json'].map((name) => {
  const template = readFileSync(join(root, 'docs/packaging', name), 'utf8');
  const text = template.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, word: string) => {
    if (words[word] === undefined) missing.push(word);
    return words[word] ?? '';
  });
  return { name, text };
});
if (missing.length > 0) {
  const names = [...new Set(missing)].join(', ');
  process.stderr.write(
    `Error: dist/binaries has no ${names}: npm run build:binaries -- --archives makes all of them.\n`,
  );
  process.exitCode = 1;
} else {
  mkdirSync(out, { recursive: true });
  for (const { name, text } of filled) {
    writeFileSync(join(out, name), text);
    process.stdout.write(`manifests: dist/packages/${name}\n`);
  }
}

/** `petstock-linux-x64.tar.gz` and its sum, and so on. */
function sums(): Record<string, string> {
  const lines = readFileSync(join(root, 'dist/binaries/SHA256SUMS'), 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/ +/).reverse()));
}
