import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import own from '../../package.json';
import { npm } from './commands.ts';

/**
 * `npm run build:package`: the tarball that is published, `dist/packages/petstock-<version>.tgz`, of `dist` as it is.
 *
 * Its manifest has nothing that is for work on petstock: npm warns of a `prepare` that it has not run, and tools that look
 * for faults report those of dev dependencies.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'dist/packages');
const ofDevelopment = ['scripts', 'devDependencies', 'devEngines', 'overrides', 'resolutions'];
const manifest = Object.fromEntries(Object.entries(own).filter(([name]) => !ofDevelopment.includes(name)));

const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'petstock-package-'));
try {
  const filter = (path: string) => !/[\\/]dist[\\/](binaries|packages|release)$/.test(path);
  for (const name of ['dist', 'docs']) cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) copyFileSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // Those of any checkout, whatever the umask that it was made with: they are in the tarball.
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
  mkdirSync(out, { recursive: true });
  process.stdout.write(npm(folder, 'pack', '--json', '--ignore-scripts', '--pack-destination', out));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
