import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { narrowFile, narrowWithWarning } from '../../src/shared/narrow-file.ts';
import { tempFolder } from '../settings/temp-folder.ts';

const isRoot = process.geteuid?.() === 0;
const modeOf = (path: string) => statSync(path).mode & 0o7777;

function fileOf(mode: number, owner?: number): string {
  const path = join(tempFolder(), 'file');
  writeFileSync(path, '');
  chmodSync(path, mode);
  if (owner !== undefined) chownSync(path, owner, owner);
  return path;
}

function linkTo(target: string, owner?: number): string {
  const path = join(tempFolder(), 'link');
  symlinkSync(target, path);
  if (owner !== undefined) lchownSync(path, owner, owner);
  return path;
}

describe('a file', () => {
  test.each([
    [0o644, 'narrowed', 0o600],
    [0o620, 'narrowed', 0o600],
    [0o601, 'narrowed', 0o600],
    [0o600, 'private', 0o600],
    [0o400, 'private', 0o400],
  ] as const)('of mode %o is %s', (before, answer, after) => {
    const file = fileOf(before);
    expect([narrowFile(file), modeOf(file)]).toEqual([answer, after]);
    expect(narrowFile(file)).toBe('private');
  });

  test('that is missing has nothing to hide', () => {
    expect(narrowFile(join(tempFolder(), 'none'))).toBe('private');
    expect(narrowFile(linkTo('none'))).toBe('private');
  });

  test.runIf(isRoot)('of another user is exposed and not changed', () => {
    const file = fileOf(0o644, 1234);
    expect([narrowFile(file), modeOf(file)]).toEqual(['exposed', 0o644]);
  });
});

describe('a symbolic link', () => {
  test('of ours is followed to the file', () => {
    const file = fileOf(0o644);
    expect([narrowFile(linkTo(file)), modeOf(file)]).toEqual(['narrowed', 0o600]);
  });

  test('to a private file has nothing to hide', () => {
    expect(narrowFile(linkTo(fileOf(0o600)))).toBe('private');
  });

  test.runIf(isRoot)('of another user is not followed', () => {
    const file = fileOf(0o644);
    expect([narrowFile(linkTo(file, 1234)), modeOf(file)]).toEqual(['exposed', 0o644]);
  });
});

test('a pipe in its place does not block', () => {
  const path = join(tempFolder(), 'pipe');
  execFileSync('mkfifo', ['-m', '644', path]);
  expect(narrowFile(path)).toBe('exposed');
});

test('a folder in its place is not changed', () => {
  const path = join(tempFolder(), 'folder');
  mkdirSync(path);
  chmodSync(path, 0o755);
  expect([narrowFile(path), modeOf(path)]).toEqual(['exposed', 0o755]);
});

test.runIf(process.platform === 'linux')('no file stays open', () => {
  const before = readdirSync('/proc/self/fd').length;
  for (let time = 0; time < 50; time += 1) narrowFile(fileOf(0o644));
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 25);
});

test('in words', () => {
  const file = fileOf(0o644);
  expect(narrowWithWarning(file)).toBe(`${file} could be read by others; it is now private (0600)`);
  expect(narrowWithWarning(file)).toBeUndefined();
  const folder = tempFolder();
  chmodSync(folder, 0o755);
  expect(narrowWithWarning(folder)).toBe(
    `${folder} can be read by others, and its mode can't be changed: run chmod 600 as its owner`,
  );
});
