import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { releasedChangelog, releasedNotes, unreleasedNotes } from './changelog.ts';
import { git, npm, sumsOf } from './commands.ts';
import { requireNextVersion } from './version.ts';

/**
 * `npm run release -- 0.2.0`: makes a release of the commit that is checked out: version and change log in a commit, a tag, and in
 * `dist/release` the tarball for npm, the executables, the packages for Debian, the formula and the manifest, the SBOM of each, the
 * notes, and `SHA256SUMS` of all of them. Everything is made in a clone, with what `package-lock.json` names, so nothing in this folder
 * gets in, and nothing here is changed before all of it is there. It pushes and publishes nothing. With `--dry-run` there is no commit
 * and no tag here. With `--tagged` the commit that is checked out is the release already, and its files are made once more. The same
 * commit gives the same tarball.
 */
const root = process.cwd();

// Modes are in what is made.
process.umask(0o022);
try {
  main();
} catch (error) {
  process.stderr.write(`Error: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function main(): void {
  const flag = { type: 'boolean' } as const;
  const options = { 'dry-run': flag, tagged: flag, 'no-binaries': flag };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version, ...others] = positionals;
  if (version === undefined || others.length > 0) throw new Error('Name one version: npm run release -- 1.2.3');
  requireClean();
  if (values.tagged) requireTagged(version);
  else requireReleasable(version);
  const folder = mkdtempSync(join(tmpdir(), 'petstock-release-'));
  try {
    const [clone, out] = [join(folder, 'clone'), join(folder, 'out')];
    mkdirSync(out);
    git(root, 'clone', '--quiet', '--no-hardlinks', root, clone);
    git(clone, 'checkout', '--quiet', git(root, 'rev-parse', 'HEAD'));
    const notes = values.tagged ? releasedNotes(changelogIn(clone), version) : commitIn(clone, version);
    writeFileSync(join(out, 'NOTES.md'), notes);
    build(clone, out, values['no-binaries'] !== true);
    writeFileSync(join(out, 'SHA256SUMS'), sumsOf(out));
    const released = join(root, 'dist', 'release');
    rmSync(released, { recursive: true, force: true });
    cpSync(out, released, { recursive: true });
    const isTaken = values.tagged !== true && values['dry-run'] !== true;
    if (isTaken) take(clone, version);
    const next = isTaken
      ? `Committed and tagged v${version}. To publish it: git push --follow-tags`
      : 'Nothing was committed or tagged.';
    process.stdout.write(`${readFileSync(join(released, 'SHA256SUMS'), 'utf8')}\n${released}\n${next}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function requireClean(): void {
  const changed = git(root, 'status', '--porcelain');
  if (changed !== '') throw new Error(`There are changes that are in no commit: commit or stash them.\n${changed}`);
}

/** @throws Error that says what to do first */
function requireReleasable(version: string): void {
  requireNextVersion(version, versionIn(root));
  if (git(root, 'tag', '--list', `v${version}`) !== '') throw new Error(`There is a tag v${version} already.`);
  unreleasedNotes(changelogIn(root));
}

/** @throws Error where the commit that is checked out is not that release */
function requireTagged(version: string): void {
  const current = versionIn(root);
  if (current !== version) throw new Error(`The version in package.json is ${current}, not ${version}.`);
  if (!git(root, 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
    throw new Error(`The commit that is checked out has no tag v${version}.`);
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

function changelogIn(folder: string): string {
  return readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
}

/** Puts the version into a clone, and commits and tags it there. @returns the notes */
function commitIn(clone: string, version: string): string {
  const changelog = changelogIn(clone);
  const at = git(clone, 'log', '-1', '--format=%cI');
  writeFileSync(join(clone, 'CHANGELOG.md'), releasedChangelog(changelog, version, at.slice(0, 10)));
  npm(clone, 'version', version, '--no-git-tag-version', '--ignore-scripts');
  for (const key of ['user.name', 'user.email']) git(clone, 'config', key, git(root, 'config', key));
  const notes = unreleasedNotes(changelog);
  git(clone, 'commit', '--quiet', '--all', '--message', `Release ${version}`);
  git(clone, 'tag', '--annotate', `v${version}`, '--message', `petstock ${version}\n\n${notes}`, '--cleanup=verbatim');
  return notes;
}

/** Makes what is published. The executables themselves are in the archives, and all sums are made anew. */
function build(clone: string, out: string, withBinaries: boolean): void {
  npm(clone, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
  const run = (...words: readonly string[]) => process.stderr.write(npm(clone, 'run', '--silent', ...words));
  run('build');
  npm(clone, 'run', 'build:package');
  if (withBinaries) {
    run('build:binaries', '--', '--archives');
    run('build:deb');
    run('build:manifests');
  }
  for (const folder of withBinaries ? ['binaries', 'packages'] : ['packages']) {
    const made = readdirSync(join(clone, 'dist', folder));
    for (const name of made.filter((name) => /\.(t?gz|json|txt|1|deb|rb)$/.test(name)))
      cpSync(join(clone, 'dist', folder, name), join(out, name));
  }
}

/** The commit and the tag come here in the end, when nothing can fail any more. */
function take(clone: string, version: string): void {
  git(root, 'fetch', '--quiet', clone, `refs/tags/v${version}:refs/tags/v${version}`);
  git(root, 'merge', '--quiet', '--ff-only', `v${version}^{commit}`);
}
