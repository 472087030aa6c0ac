import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bashScript, fishScript, zshScript } from '../../src/cli/commands/completion.ts';
import { committedAt } from './commands.ts';
import { debianVersion } from './version.ts';

/**
 * `npm run build:deb`: a package for Debian and Ubuntu of each executable for Linux with glibc that is in `dist/binaries`, in
 * `dist/packages`, with the manual of that folder and completions for bash, zsh and fish. Takes `dpkg-deb`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const binaries = join(root, 'dist/binaries');
const out = join(root, 'dist/packages');
const { version, homepage, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const builtAt = committedAt(root);

/** By the names of Debian. */
const architectures: Readonly<Record<string, string>> = { amd64: 'petstock-linux-x64', arm64: 'petstock-linux-arm64' };

/** Where each shell looks for what a package brings. */
const completions: Readonly<Record<string, string>> = {
  'usr/share/bash-completion/completions/petstock': bashScript,
  'usr/share/zsh/vendor-completions/_petstock': zshScript,
  'usr/share/fish/vendor_completions.d/petstock.fish': fishScript,
};

/** What lintian would find, and why it stays. */
const overrides = `# What it runs is behind the code of the runtime, and would be gone.
petstock: unstripped-binary-or-object [usr/bin/petstock]
# The runtime, bun, is linked so by those who make it, with libraries of its own.
petstock: embedded-library * [usr/bin/petstock]
petstock: hardening-no-pie [usr/bin/petstock]
petstock: hardening-no-relro [usr/bin/petstock]
`;

const maintainer = 'The petstock authors <petstock@example.invalid>';

// The modes of folders are in the package.
process.umask(0o022);
const made = Object.entries(architectures).filter(([, file]) => existsSync(join(binaries, file)));
if (made.length === 0) throw new Error('no executable for Linux in dist/binaries: npm run build:binaries -- linux-x64');
for (const [architecture, file] of made) buildPackage(architecture, join(binaries, file));

function buildPackage(architecture: string, executable: string): void {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  const tree = mkdtempSync(join(root, 'node_modules/.cache/petstock-deb-'));
  try {
    chmodSync(tree, 0o755);
    place(tree, 'usr/bin/petstock', executable, 0o755);
    placeDocuments(tree);
    writeControl(tree, architecture);
    mkdirSync(out, { recursive: true });
    const file = join(out, `petstock_${debianVersion(version)}_${architecture}.deb`);
    // It takes the time of the commit for that of all files.
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(builtAt) };
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, file], { env, stdio: 'ignore' });
    process.stdout.write(`deb: ${relative(root, file)}, ${(statSync(file).size / 1e6).toFixed(0)} MB\n`);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function placeDocuments(tree: string): void {
  const folder = 'usr/share/doc/petstock';
  write(tree, `${folder}/copyright`, copyright());
  place(tree, `${folder}/LICENSES.txt`, join(binaries, 'LICENSES.txt'), 0o644);
  const date = new Date(builtAt * 1000).toUTCString().replace('GMT', '+0000');
  const changelog = `petstock (${debianVersion(version)}) unstable; urgency=medium

  * See CHANGELOG.md of the repository.

 -- ${maintainer}  ${date}
`;
  write(tree, `${folder}/changelog.gz`, gzipSync(changelog, { level: 9 }));
  write(tree, 'usr/share/lintian/overrides/petstock', overrides);
  const manual = readFileSync(join(binaries, 'petstock.1'));
  write(tree, 'usr/share/man/man1/petstock.1.gz', gzipSync(manual, { level: 9 }));
  for (const [path, script] of Object.entries(completions)) write(tree, path, script);
}

function copyright(): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  return `petstock ${version}, ${homepage}\n\n${own}
The executable contains other software: LICENSES.txt in this folder has the licences of all of it. Of the licences that it
names, /usr/share/common-licenses has GPL-2, LGPL-2, LGPL-2.1 and Apache-2.0.
`;
}

/** The names that `dpkg` wants, and the sums that `dpkg --verify` compares. */
function writeControl(tree: string, architecture: string): void {
  const files = readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(tree, path)).isFile())
    .sort()
    .map((path) => ({ path, content: readFileSync(join(tree, path)) }));
  const md5 = (content: Buffer) => createHash('md5').update(content).digest('hex');
  write(tree, 'DEBIAN/md5sums', files.map(({ path, content }) => `${md5(content)}  ${path}\n`).join(''));
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  const control = `Package: petstock
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.17)
Section: utils
Priority: optional
Homepage: ${homepage}
Description: ${description.charAt(0).toLowerCase()}${description.slice(1)}
 It lists and changes the stock of a pet store by its inventory
 service, keeps inside the rate limit of the service, and has a
 history of every change, which can be taken back.
`;
  write(tree, 'DEBIAN/control', control);
}

function place(tree: string, path: string, from: string, mode: number): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 });
  copyFileSync(from, join(tree, path));
  chmodSync(join(tree, path), mode);
}

function write(tree: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 });
  writeFileSync(join(tree, path), content, { mode: 0o644 });
}
