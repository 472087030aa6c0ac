import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { version as released } from '../../package.json';
import { bashScript, fishScript, zshScript } from '../../src/cli/commands/completion.ts';
import { committedAt, filled, homepage, newFolder, root } from '../commands.ts';

/**
 * `npm run build:deb`: builds a package for Debian and Ubuntu in `dist/packages` from each executable for Linux with
 * glibc in `dist/binaries`, with the manual from there and completions for bash, zsh and fish. Needs `dpkg-deb`.
 */
const [binaries, out] = [join(root, 'dist/binaries'), join(root, 'dist/packages')];
const architectures = Object.entries({ 'petstock-linux-x64': 'amd64', 'petstock-linux-arm64': 'arm64' });
const builtAt = committedAt();
const words = {
  ...{ released, licence: readFileSync(join(root, 'LICENSE'), 'utf8') },
  homepage: homepage === undefined ? '' : `Homepage: ${homepage}\n`,
  // Debian sorts `1.2.3~rc.1` before `1.2.3`, but `1.2.3-rc.1` after it.
  version: released.replace('-', '~'),
  date: builtAt.toUTCString().replace('GMT', '+0000'),
};
const gzip = (content: string | Uint8Array) => gzipSync(content, { level: 9 });

/** The files of the package besides the executable, by their paths. */
const documents: Readonly<Record<string, string | Uint8Array>> = {
  'usr/share/doc/petstock/copyright': filled('deb/copyright', words),
  'usr/share/doc/petstock/LICENSES.txt': readFileSync(join(binaries, 'LICENSES.txt')),
  'usr/share/doc/petstock/changelog.gz': gzip(filled('deb/changelog', words)),
  'usr/share/lintian/overrides/petstock': filled('deb/overrides', words),
  'usr/share/man/man1/petstock.1.gz': gzip(readFileSync(join(binaries, 'petstock.1'))),
  'usr/share/bash-completion/completions/petstock': bashScript,
  'usr/share/zsh/vendor-completions/_petstock': zshScript,
  'usr/share/fish/vendor_completions.d/petstock.fish': fishScript,
};

// The package contains the modes of folders, so they must not depend on the umask.
process.umask(0o022);
mkdirSync(out, { recursive: true });
const made = architectures.filter(([file]) => existsSync(join(binaries, file)));
if (made.length === 0)
  throw new Error('There is no executable for Linux in dist/binaries. Run npm run build:binaries -- linux-x64 first');
for (const [file, architecture] of made) {
  // The temporary folder itself is closed to others, and would become the root of the package.
  const tree = join(newFolder(), 'tree');
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
  };
  const inTree = (command: string) => execFileSync('sh', ['-c', command], { cwd: tree, encoding: 'utf8' });
  for (const [path, content] of Object.entries(documents)) write(path, content);
  cpSync(join(binaries, file), join(tree, 'usr/bin/petstock'));
  const kilobytes = inTree('du --summarize --apparent-size --block-size=1K usr | cut -f 1').trim();
  // `dpkg --verify` compares these checksums.
  write('DEBIAN/md5sums', inTree('find usr -type f | LC_ALL=C sort | xargs md5sum'));
  write('DEBIAN/control', filled('deb/control', { ...words, architecture, kilobytes }));
  const deb = join(out, `petstock_${words.version}_${architecture}.deb`);
  // All files get the time of the commit.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(builtAt.getTime() / 1000) };
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, deb], { env, stdio: 'ignore' });
  process.stdout.write(`deb: ${deb.slice(root.length)}, ${(statSync(deb).size / 1e6).toFixed(0)} MB\n`);
}
