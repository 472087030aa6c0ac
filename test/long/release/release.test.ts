import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { buildConstants } from '../../../.ci/commands.ts';
import { notesOf, pageOf, releasedChangelog, requireNotEarlier } from '../../../.ci/release/versions.ts';
import { version } from '../../../package.json';
import { newFolder } from '../../support/new-folder.ts';

const changelog = `# Changelog

## Unreleased

### Added

- A thing.

## 0.1.0 - 2026-01-02

- The first.
`;

describe('CHANGELOG.md', () => {
  test('moves unreleased notes under the heading of their version', () => {
    const released = releasedChangelog(changelog, '0.2.0', '2026-03-04');
    expect(released).toContain('## Unreleased\n\n## 0.2.0 - 2026-03-04\n\n### Added\n\n- A thing.\n\n## 0.1.0');
    expect(notesOf(released, '0.2.0')).toBe('### Added\n\n- A thing.\n');
    expect(() => notesOf(released, '0.3.0')).toThrow('has no heading "## 0.3.0"');
    expect(() => notesOf(released)).toThrow('There is nothing below "## Unreleased"');
  });

  const empty = ['# Changelog\n', '## Unreleased\n', '## Unreleased\n\n### Added\n\n## 0.1.0\n\n- The first.\n'];
  test.each(empty)('finds no notes in a changelog with nothing to release: %j', (text) => {
    expect(() => notesOf(text)).toThrow('Unreleased');
  });

  test('keeps a section for unreleased changes in CHANGELOG.md', () => {
    const ours = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
    expect(ours).toMatch(/^## Unreleased$/m);
  });
});

test.each([
  ['0.10.0', '0.9.0'],
  ['1.0.0', '1.0.0-rc.2'],
  ['1.0.0-rc.10', '1.0.0-rc.9'],
])('accepts the version %s after %s and after itself, and not in reverse', (next, current) => {
  requireNotEarlier(next, current);
  expect(() => requireNotEarlier(current, next)).toThrow('comes before');
  requireNotEarlier(next, next);
});

test.each(['', 'v0.2.0', '0.2', '1.0.0-01', '1.0.0+1', '1.0.0\n', 'patch'])('refuses %j as a version', (text) => {
  expect(() => requireNotEarlier(text, '0.1.0')).toThrow('is not a version');
});

test.each([
  ['https://github.com/ann/petstock.git', 'https://github.com/ann/petstock'],
  ['https://github.com/ann/petstock', 'https://github.com/ann/petstock'],
  ['git@github.com:ann/pet.stock.git', 'https://github.com/ann/pet.stock'],
  ['ssh://git@github.com/ann/petstock.git', 'https://github.com/ann/petstock'],
  ['/home/ann/petstock', undefined],
  ['https://github.com.example/ann/petstock', undefined],
])('derives the GitHub page, if any, from the remote %s', (remote, page) => expect(pageOf(remote)).toBe(page));

test.each([
  ['without a version', ['--dry-run'], () => {}, 'Pass one version'],
  ['with an invalid version', ['next', '--dry-run'], () => {}, '"next" is not a version'],
  ['of an earlier version', ['0.0.9', '--dry-run'], () => {}, '0.0.9 comes before 0.1.0'],
  [
    'whose tag already exists',
    ['0.1.0', '--dry-run'],
    (run: Git) => run('tag', 'v0.1.0'),
    'The tag v0.1.0 already exists',
  ],
  [
    'with uncommitted changes',
    ['0.2.0', '--dry-run'],
    (_: Git, folder: string) => put(folder, 'README.md', 'x'),
    'There are uncommitted changes',
  ],
  [
    'without notes',
    ['0.2.0', '--dry-run'],
    (run: Git, folder: string) => emptied(run, folder),
    'nothing below "## Unreleased"',
  ],
  ['of a tag that does not exist', ['0.1.0', '--tagged', '--dry-run'], () => {}, 'does not have the tag v0.1.0'],
  ['of a tag with another version', ['0.2.0', '--tagged', '--dry-run'], () => {}, 'is 0.1.0, not 0.2.0'],
  [
    'without a git user name',
    ['0.2.0', '--dry-run'],
    (run: Git) => run('config', 'user.name', ''),
    "git config user.name '<yours>'",
  ],
])('refuses a release %s, and changes nothing', (_what, args, prepare, message) => {
  const { folder, run } = repository();
  prepare(run, folder);
  const before = run('for-each-ref') + run('status', '--porcelain');
  const script = fileURLToPath(new URL('../../../.ci/release/release.ts', import.meta.url));
  const tsx = pathToFileURL(fileURLToPath(new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url))).href;
  const command = ['--import', tsx, script, ...args];
  const result = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' });
  expect(result).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(message) });
  expect(result.stderr).not.toMatch(/^ +at |Node\.js v/m);
  expect(run('for-each-ref') + run('status', '--porcelain')).toBe(before);
});

type Git = (...args: readonly string[]) => string;

function put(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function emptied(run: Git, folder: string): void {
  put(folder, 'CHANGELOG.md', '# Changelog\n\n## Unreleased\n');
  run('commit', '--quiet', '--all', '--message', 'Empty');
}

function repository(): { readonly folder: string; readonly run: Git } {
  const folder = newFolder();
  const run: Git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  run('init', '--quiet');
  run('config', 'user.name', 'Ada');
  run('config', 'user.email', 'ada@example.com');
  put(folder, 'package.json', '{"name":"petstock","version":"0.1.0"}');
  put(folder, 'CHANGELOG.md', changelog);
  run('add', '.');
  run('commit', '--quiet', '--message', 'First');
  return { folder, run };
}

test('adds the commit to the version of a build, unless the commit is tagged as the release', () => {
  const { folder, run } = repository();
  expect(buildConstants(folder)).toEqual({ COMMIT: JSON.stringify(run('rev-parse', '--short=7', 'HEAD').trim()) });
  run('tag', 'v0.0.1');
  expect(buildConstants(folder)).toHaveProperty('COMMIT');
  run('tag', `v${version}`);
  expect(buildConstants(folder)).toEqual({});
  rmSync(join(folder, '.git'), { recursive: true });
  expect(buildConstants(folder)).toEqual({});
});
