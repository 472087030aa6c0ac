import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fromGit, git, newFolder, npm, sumsOf } from '../commands.ts';
import { notesOf, pageOf, releasedChangelog, requireNotEarlier } from './versions.ts';

/**
 * `npm run release -- <version>`: makes a release of the commit that is checked out. It consists of a commit with the
 * version and change log, a tag, and in `dist/release` the tarball for npm, the release notes, and `SHA256SUMS` of both.
 * Everything is built in a clone from `package-lock.json`, so no other file of this folder gets in, and nothing changes
 * here until everything is built. Nothing is pushed or published. With `--dry-run` nothing is committed or tagged here.
 * With `--tagged` the commit that is checked out already is the release, and its files are built again. The same commit
 * gives the same tarball.
 */
// The error shows only the message: what to do, or the output of npm or git.
process.once('uncaughtException', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
});
const root = process.cwd();
const textIn = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');
const flag = { type: 'boolean', default: false } as const;
const { values, positionals } = parseArgs({ options: { 'dry-run': flag, tagged: flag }, allowPositionals: true });
const [version, ...others] = positionals;
/** The repository on GitHub, from which a release can be downloaded. A tagged commit has it in its manifest. */
const page = values.tagged ? undefined : pageOf(fromGit(root, 'remote', 'get-url', 'origin') ?? '');
if (version === undefined || others.length > 0) throw new Error('Pass one version: npm run release -- 1.2.3');
requireReleasable(version);

// The release contains the modes of files, so they must not depend on the umask.
process.umask(0o022);
const clone = join(newFolder(), 'clone');
git(root, 'clone', '--quiet', '--no-hardlinks', root, clone);
if (!values.tagged) commitInClone(version);
npm(clone, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
npm(clone, 'run', 'build');
const out = join(root, 'dist', 'release');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
process.stderr.write(npm(clone, 'exec', '--', 'tsx', '.ci/release/pack.ts', out));
writeFileSync(join(out, 'NOTES.md'), notesIn(clone, version));
const sums = sumsOf(out);
writeFileSync(join(out, 'SHA256SUMS'), sums);
let next = 'Nothing was committed or tagged.';
if (!values.tagged && !values['dry-run']) {
  // The commit and tag are fetched here last, when nothing else can fail.
  git(root, 'fetch', '--quiet', clone, `refs/tags/v${version}:refs/tags/v${version}`);
  git(root, 'merge', '--quiet', '--ff-only', `v${version}^{commit}`);
  next = `Committed and tagged v${version}. To publish it: git push --follow-tags`;
}
process.stdout.write(`${sums}\n${out}\n${next}\n`);

/** @throws Error that says what has to be done before the release */
function requireReleasable(version: string): void {
  const changed = git(root, 'status', '--porcelain');
  if (changed !== '') throw new Error(`There are uncommitted changes. Commit or stash them first.\n${changed}`);
  const { version: current, homepage }: Manifest = JSON.parse(textIn(root, 'package.json'));
  if (values.tagged) {
    if (current !== version) throw new Error(`The version in package.json is ${current}, not ${version}.`);
    if (!git(root, 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
      throw new Error(`The commit that is checked out does not have the tag v${version}.`);
  } else {
    requireNotEarlier(version, current);
    if (git(root, 'tag', '--list', `v${version}`) !== '') throw new Error(`The tag v${version} already exists.`);
    notesIn(root, version);
    for (const key of ['user.name', 'user.email'])
      if (!fromGit(root, 'config', key)) throw new Error(`git has no ${key}. To set it: git config ${key} '<yours>'`);
  }
  if (homepage === undefined && page === undefined) {
    process.stderr.write(
      'package.json has no homepage, and origin is not at GitHub: the package names no repository.\n',
    );
  }
}

interface Manifest {
  readonly version: string;
  readonly homepage?: string;
}

/** Returns the notes of the version; before the version is in `package.json`, those below `## Unreleased`. */
function notesIn(folder: string, version: string): string {
  const manifest: Manifest = JSON.parse(textIn(folder, 'package.json'));
  return notesOf(textIn(folder, 'CHANGELOG.md'), manifest.version === version ? version : undefined);
}

/**
 * Sets the version in the clone, unless it is there already, and the address if there is none. Commits and tags the
 * release there.
 */
function commitInClone(version: string): void {
  const { version: current, homepage }: Manifest = JSON.parse(textIn(clone, 'package.json'));
  if (version !== current) {
    const [day = ''] = git(clone, 'log', '-1', '--format=%cI').split('T');
    writeFileSync(join(clone, 'CHANGELOG.md'), releasedChangelog(textIn(clone, 'CHANGELOG.md'), version, day));
    npm(clone, 'version', version, '--no-git-tag-version', '--ignore-scripts');
  }
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
  const tagged = `petstock ${version}\n\n${notesIn(clone, version)}`;
  git(clone, 'commit', '--quiet', '--all', '--allow-empty', '--message', `Release ${version}`);
  git(clone, 'tag', '--annotate', `v${version}`, '--message', tagged, '--cleanup=verbatim');
}
