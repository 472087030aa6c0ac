import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run check:deb`: installs the package of `dist/packages` for this machine into a root of its own, runs what it has
 * brought, and removes it. Has lintian look at it where that is installed.
 */
const packages = fileURLToPath(new URL('../../dist/packages', import.meta.url));
const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
const file = readdirSync(packages).find((name) => name.endsWith(`_${architecture}.deb`));
assert.ok(file, `no package for ${architecture} in dist/packages: npm run build:deb`);
const deb = join(packages, file);
const root = mkdtempSync(join(tmpdir(), 'petstock-deb-'));

try {
  for (const name of ['updates', 'info']) mkdirSync(join(root, 'var/lib/dpkg', name), { recursive: true });
  for (const name of ['status', 'available']) writeFileSync(join(root, 'var/lib/dpkg', name), '');
  // The root has nothing else, not even the C library that it depends on.
  const dpkg = ['--root', root, '--force-depends', '--force-not-root', '--log', '/dev/null'];
  run('dpkg', [...dpkg, '--install', deb]);
  assert.match(run('dpkg', ['--root', root, '--status', 'petstock']), /^Status: install ok installed$/m);
  assert.equal(run('dpkg', ['--root', root, '--verify', 'petstock']), '');
  const petstock = join(root, 'usr/bin/petstock');
  assert.match(run(petstock, ['--version']), /^\d+\.\d+\.\d+\n$/);
  assert.equal(run(petstock, ['--env', 'sandbox', 'inventory', 'get', '4']), '4\t39\tavailable\n');
  assert.match(run(petstock, ['licenses']), /^bun \d/m);
  run('dpkg', [...dpkg, '--purge', 'petstock']);
  assert.ok(!existsSync(petstock));
  assert.ok(!existsSync(join(root, 'usr/share/doc/petstock')));
  lint();
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** @returns what it prints on stdout */
function run(command, args) {
  const folders = { PETSTOCK_CONFIG_DIR: join(root, 'config'), PETSTOCK_STATE_DIR: join(root, 'state') };
  const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, LANG: 'C.UTF-8', ...folders };
  return execFileSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Libraries inside the runtime are bun's to bring; the rest has to be right. */
function lint() {
  const isThere = process.env.PATH.split(':').some((folder) => existsSync(join(folder, 'lintian')));
  if (!isThere) return process.stdout.write('deb: installed, run and removed; lintian is not installed\n');
  const args = ['--allow-root', '--fail-on', 'error', '--suppress-tags', 'embedded-library', deb];
  run(
    'lintian',
    args.filter((arg) => arg !== '--allow-root' || process.getuid() === 0),
  );
  process.stdout.write('deb: installed, run and removed; lintian finds no error\n');
}
