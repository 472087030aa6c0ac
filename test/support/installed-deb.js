import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/**
 * `npm run check:deb`: installs the package in `dist/packages` for this machine into a root of its own, runs the
 * program, completes a command in each shell, and removes the package. Runs lintian if it is installed.
 */
const packages = fileURLToPath(new URL('../../dist/packages', import.meta.url));
const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
const file = readdirSync(packages).find((name) => name.endsWith(`_${architecture}.deb`));
assert.ok(file, `no package for ${architecture} in dist/packages: npm run build:deb`);
const deb = join(packages, file);
const root = mkdtempSync(join(tmpdir(), 'petstock-deb-'));
const share = join(root, 'usr/share');

/**
 * Scripts that load the completion as each shell does, from the folder of the package, and print the proposals for
 * `petstock inv`.
 */
const completing = {
  bash: `cd '${share}/bash-completion/completions' && source ./petstock
    COMP_WORDS=(petstock inv) COMP_CWORD=1 COMP_LINE='petstock inv' COMP_POINT=12
    [[ $(complete -p petstock) == *'-F _petstock petstock' ]] && _petstock 2>/dev/null && printf '%s\\n' "\${COMPREPLY[@]}"`,
  // compsys has no line outside of its editor, so the script calls the function that compsys has loaded.
  zsh: `fpath=('${share}/zsh/vendor-completions' $fpath) && autoload -Uz compinit && compinit -u -D
    [[ $_comps[petstock] == _petstock ]] || exit 1
    _describe() { print -l -- \${\${(P)3}%%:*} }
    words=(petstock inv) CURRENT=2 PREFIX=inv && _petstock; true`,
  fish: `set -p fish_complete_path '${share}/fish/vendor_completions.d'; complete -C 'petstock inv' | string split -f 1 \\t`,
};

try {
  for (const name of ['updates', 'info']) mkdirSync(join(root, 'var/lib/dpkg', name), { recursive: true });
  for (const name of ['status', 'available']) writeFileSync(join(root, 'var/lib/dpkg', name), '');
  // The root has nothing else, not even the C library on which the package depends.
  const dpkg = ['--root', root, '--force-depends', '--force-not-root', '--log', '/dev/null'];
  run('dpkg', [...dpkg, '--install', deb]);
  assert.match(run('dpkg', ['--root', root, '--status', 'petstock']), /^Status: install ok installed$/m);
  assert.equal(run('dpkg', ['--root', root, '--verify', 'petstock']), '');
  const petstock = join(root, 'usr/bin/petstock');
  assert.match(run(petstock, ['--version']), /^\d+\.\d+\.\d+(\+[\da-f]{7,})?\n$/);
  assert.equal(run(petstock, ['--env', 'sandbox', 'inventory', 'get', '4']), '4\t39\tavailable\n');
  assert.match(run(petstock, ['licenses']), /^bun \d/m);
  assert.match(
    gunzipSync(readFileSync(join(root, 'usr/share/man/man1/petstock.1.gz'))).toString(),
    /^\.TH PETSTOCK 1 /,
  );
  for (const [shell, script] of Object.entries(completing)) completes(shell, script);
  run('dpkg', [...dpkg, '--purge', 'petstock']);
  assert.ok(!existsSync(join(root, 'usr')), 'something was left behind');
  lint();
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** Checks the completion of a shell. Notes that a shell is not installed. */
function completes(shell, script) {
  if (!isInstalled(shell)) return process.stdout.write(`deb: ${shell} is not installed\n`);
  const flags = { bash: ['--norc', '--noprofile'], zsh: ['-f'], fish: ['--no-config'] }[shell];
  const proposed = run(shell, [...flags, '-c', script]);
  assert.equal(proposed.split('\n')[0], 'inventory', `${shell} proposes ${JSON.stringify(proposed)}`);
}

/**
 * Runs a command.
 * @returns its stdout
 */
function run(command, args) {
  const folders = { PETSTOCK_CONFIG_DIR: join(root, 'config'), PETSTOCK_STATE_DIR: join(root, 'state') };
  const path = [join(root, 'usr/bin'), process.env.PATH, '/usr/sbin', '/sbin'].join(':');
  const env = { PATH: path, HOME: root, LANG: 'C.UTF-8', ...folders };
  return execFileSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Checks the package with lintian, if that is installed. The package itself lists overrides for bun's build. */
function lint() {
  if (!isInstalled('lintian'))
    return process.stdout.write('deb: installed, run and removed; lintian is not installed\n');
  const asRoot = process.getuid() === 0 ? ['--allow-root'] : [];
  assert.equal(run('lintian', [...asRoot, '--fail-on', 'error,warning', deb]), '');
  process.stdout.write('deb: installed, run and removed; lintian finds nothing\n');
}

function isInstalled(command) {
  return process.env.PATH.split(':').some((folder) => existsSync(join(folder, command)));
}
