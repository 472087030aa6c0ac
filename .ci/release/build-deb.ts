import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { description, homepage, version } from '../../package.json';
import { bashScript, fishScript, zshScript } from '../../src/cli/commands/completion.ts';
import { committedAt, newFolder, root } from '../commands.ts';
import { debianVersion } from './versions.ts';

/**
 * `npm run build:deb`: a package for Debian and Ubuntu of each executable for Linux with glibc that is in `dist/binaries`, in
 * `dist/packages`, with the manual of that folder and completions for bash, zsh and fish. Takes `dpkg-deb`.
 */
const binaries = join(root, 'dist/binaries');
const out = join(root, 'dist/packages');
const builtAt = committedAt();
const maintainer = 'The petstock authors <petstock@example.invalid>';

/** What lintian would find, and why it stays. */
const overrides = `# What it runs is behind the code of the runtime, and would be gone.
petstock: unstripped-binary-or-object [usr/bin/petstock]
# The runtime, bun, is linked so by those who make it, with libraries of its own.
petstock: embedded-library * [usr/bin/petstock]
petstock: hardening-no-pie [usr/bin/petstock]
petstock: hardening-no-relro [usr/bin/petstock]
`;

const changelog = `petstock (${debianVersion(version)}) unstable; urgency=medium

  * See CHANGELOG.md of the repository.

 -- ${maintainer}  ${new Date(builtAt * 1000).toUTCString().replace('GMT', '+0000')}
`;

const copyright = `petstock ${version}, ${homepage}

${readFileSync(join(root, 'LICENSE'), 'utf8')}
The executable contains other software: LICENSES.txt in this folder has the licences of all of it. Of the licences that it
names, /usr/share/common-licenses has GPL-2, LGPL-2, LGPL-2.1 and Apache-2.0.
`;

/** Where each file of the package goes. */
const documents: Readonly<Record<string, string | Uint8Array>> = {
  'usr/share/doc/petstock/copyright': copyright,
  'usr/share/doc/petstock/LICENSES.txt': readFileSync(join(binaries, 'LICENSES.txt')),
  'usr/share/doc/petstock/changelog.gz': gzipSync(changelog, { level: 9 }),
  'usr/share/lintian/overrides/petstock': overrides,
  'usr/share/man/man1/petstock.1.gz': gzipSync(readFileSync(join(binaries, 'petstock.1')), { level: 9 }),
  'usr/share/bash-completion/completions/petstock': bashScript,
  'usr/share/zsh/vendor-completions/_petstock': zshScript,
  'usr/share/fish/vendor_completions.d/petstock.fish': fishScript,
};

function control(architecture: string, kilobytes: number): string {
  return `Package: petstock
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.17)
Section: utils
Priority: optional
Homepage: ${homepage}
Description: ${description.charAt(0).toLowerCase()}${description.slice(1)}
 It lists and changes the stock of a pet store by its inventory
 service, keeps inside the rate limit of the service, and has a
 history of every change, which can be taken back.
`;
}

// The modes of folders are in the package.
process.umask(0o022);
mkdirSync(out, { recursive: true });
const architectures = Object.entries({ 'petstock-linux-x64': 'amd64', 'petstock-linux-arm64': 'arm64' });
const made = architectures.filter(([file]) => existsSync(join(binaries, file)));
if (made.length === 0) throw new Error('no executable for Linux in dist/binaries: npm run build:binaries -- linux-x64');
for (const [file, architecture] of made) {
  // The folder itself is closed to others, and would be the root of the package.
  const tree = join(newFolder(), 'tree');
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
  };
  for (const [path, content] of Object.entries(documents)) write(path, content);
  cpSync(join(binaries, file), join(tree, 'usr/bin/petstock'));
  // What `dpkg --verify` compares.
  write('DEBIAN/md5sums', execFileSync('sh', ['-c', 'find usr -type f | LC_ALL=C sort | xargs md5sum'], { cwd: tree }));
  const size = execFileSync('du', ['--summarize', '--apparent-size', '--block-size=1K', 'usr'], { cwd: tree });
  write('DEBIAN/control', control(architecture, Number.parseInt(size.toString(), 10)));
  const name = `petstock_${debianVersion(version)}_${architecture}.deb`;
  // It takes the time of the commit for that of all files.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(builtAt) };
  const args = ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, join(out, name)];
  execFileSync('dpkg-deb', args, { env, stdio: 'ignore' });
  process.stdout.write(`deb: dist/packages/${name}, ${(statSync(join(out, name)).size / 1e6).toFixed(0)} MB\n`);
}
