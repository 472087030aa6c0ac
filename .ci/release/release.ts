import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fromGit, git, newFolder, npm, sumsOf } from '../commands.ts';
import { notesOf, pageOf, releasedChangelog, requireNextVersion } from './versions.ts';

/**
 * `npm run release -- <version>`: makes a release of the commit that is checked out: version and change log in a commit, a tag, and in
 * `dist/release` the tarball for npm, the executables, the packages for Debian, the formula and the manifest, the SBOM of each, the
 * notes, and `SHA256SUMS` of all of them. Everything is made in a clone, with what `package-lock.json` names, so nothing in this folder
 * gets in, and nothing here is changed before all of it is there. It pushes and publishes nothing. With `--dry-run` there is no commit
 * and no tag here. With `--tagged` the commit that is checked out is the release already, and its files are made once more. The same
 * commit gives the same tarball.
 */
// What to do, or what npm or git has said, is all that its reader needs.
process.once('uncaughtException', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
});
const root = process.cwd();
const textIn = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');
const flag = { type: 'boolean', default: false } as const;
const { values, positionals } = parseArgs({ options: { 'dry-run': flag, tagged: flag }, allowPositionals: true });
const [version, ...others] = positionals;
/** Where the files of a release can be had. A tag has it in its manifest. */
const page = values.tagged ? undefined : pageOf(fromGit(root, 'remote', 'get-url', 'origin') ?? '');
if (version === undefined || others.length > 0) throw new Error('Name one version: npm run release -- 1.2.3');
requireReleasable(version);

// Modes are in what is made.
process.umask(0o022);
const clone = join(newFolder(), 'clone');
git(root, 'clone', '--quiet', '--no-hardlinks', root, clone);
if (!values.tagged) commitInClone(version);
npm(clone, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
npm(clone, 'run', 'build');
for (const script of ['build:package', 'build:binaries -- --archives', 'check:binaries', 'build:deb'])
  process.stderr.write(npm(clone, 'run', '--silent', ...script.split(' ')));
const out = join(root, 'dist', 'release');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
// The executables themselves are in the archives, and all sums are made anew.
for (const folder of ['binaries', 'packages'])
  for (const name of readdirSync(join(clone, 'dist', folder)))
    if (/\.(t?gz|json|txt|1|deb|rb)$/.test(name)) cpSync(join(clone, 'dist', folder, name), join(out, name));
writeFileSync(join(out, 'NOTES.md'), notesOf(textIn(clone, 'CHANGELOG.md'), version));
const sums = sumsOf(out);
writeFileSync(join(out, 'SHA256SUMS'), sums);
let next = 'Nothing was committed or tagged.';
if (!values.tagged && !values['dry-run']) {
  // The commit and the tag come here in the end, when nothing can fail any more.
  git(root, 'fetch', '--quiet', clone, `refs/tags/v${version}:refs/tags/v${version}`);
  git(root, 'merge', '--quiet', '--ff-only', `v${version}^{commit}`);
  next = `Committed and tagged v${version}. To publish it: git push --follow-tags`;
}
process.stdout.write(`${sums}\n${out}\n${next}\n`);

/** @throws Error that says what to do first */
function requireReleasable(version: string): void {
  const changed = git(root, 'status', '--porcelain');
  if (changed !== '') throw new Error(`There are changes that are in no commit: commit or stash them.\n${changed}`);
  const { version: current, homepage }: Manifest = JSON.parse(textIn(root, 'package.json'));
  if (values.tagged) {
    if (current !== version) throw new Error(`The version in package.json is ${current}, not ${version}.`);
    if (!git(root, 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
      throw new Error(`The commit that is checked out has no tag v${version}.`);
  } else {
    requireNextVersion(version, current);
    if (git(root, 'tag', '--list', `v${version}`) !== '') throw new Error(`There is a tag v${version} already.`);
    notesOf(textIn(root, 'CHANGELOG.md'));
    for (const key of ['user.name', 'user.email'])
      if (!fromGit(root, 'config', key)) throw new Error(`git does not know who releases: git config ${key} '<yours>'`);
  }
  if (homepage === undefined && page === undefined && !values['dry-run'])
    throw new Error(
      values.tagged
        ? 'package.json of this tag has no homepage: make the release with npm run release.'
        : 'It is not known where the files can be had: git remote add origin https://github.com/<owner>/petstock.git',
    );
}

interface Manifest {
  readonly version: string;
  readonly homepage?: string;
}

/** Puts the version, and the address if there is none, into the clone, and commits and tags it there. */
function commitInClone(version: string): void {
  const changelog = textIn(clone, 'CHANGELOG.md');
  const [day = ''] = git(clone, 'log', '-1', '--format=%cI').split('T');
  writeFileSync(join(clone, 'CHANGELOG.md'), releasedChangelog(changelog, version, day));
  npm(clone, 'version', version, '--no-git-tag-version', '--ignore-scripts');
  const { homepage }: Manifest = JSON.parse(textIn(clone, 'package.json'));
  if (homepage === undefined && page !== undefined) {
    const address = [
      `homepage=${page}#readme`,
      `bugs=${page}/issues`,
      'repository.type=git',
      `repository.url=git+${page}.git`,
    ];
    npm(clone, 'pkg', 'set', ...address);
  }
  for (const key of ['user.name', 'user.email']) git(clone, 'config', key, git(root, 'config', key));
  const tagged = `petstock ${version}\n\n${notesOf(changelog)}`;
  git(clone, 'commit', '--quiet', '--all', '--message', `Release ${version}`);
  git(clone, 'tag', '--annotate', `v${version}`, '--message', tagged, '--cleanup=verbatim');
}
