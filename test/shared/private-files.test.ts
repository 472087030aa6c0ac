import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { makePrivateFolder, narrowFile, privacyWarnings } from '../../src/shared/private-files.ts';
import { tempFolder } from '../settings/temp-folder.ts';

const modeOf = (target: string) => statSync(target).mode & 0o7777;

describe('a folder', () => {
  test('is made with its parents, for us alone', () => {
    const folder = path.join(tempFolder(), 'a', 'b');
    makePrivateFolder(folder, 'linux');
    expect([modeOf(folder), modeOf(path.dirname(folder))]).toEqual([0o700, 0o700]);
  });

  test('that is wider is tightened', () => {
    const folder = path.join(tempFolder(), 'mine');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'config.json'), '{}');
    chmodSync(folder, 0o755);
    makePrivateFolder(folder, 'linux');
    expect(modeOf(folder)).toBe(0o700);
  });

  test('with folders in it is somebody else’s business, unless it has our name', () => {
    const parent = tempFolder();
    for (const [name, mode] of [
      ['home', 0o755],
      ['petstock', 0o700],
    ] as const) {
      const folder = path.join(parent, name);
      mkdirSync(path.join(folder, 'inner'), { recursive: true });
      chmodSync(folder, 0o755);
      makePrivateFolder(folder, 'linux');
      expect(modeOf(folder)).toBe(mode);
    }
  });

  test('that is shared stays so', () => {
    const folder = path.join(tempFolder(), 'tmp');
    mkdirSync(folder);
    chmodSync(folder, 0o1777);
    makePrivateFolder(folder, 'linux');
    expect(modeOf(folder)).toBe(0o1777);
  });

  test('on Windows is made, and its mode left alone', () => {
    const folder = path.join(tempFolder(), 'w');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    makePrivateFolder(folder, 'win32');
    expect(existsSync(folder)).toBe(true);
    expect(modeOf(folder)).toBe(0o755);
  });
});

describe('a file', () => {
  test.each([
    [0o644, 'narrowed', 0o600],
    [0o620, 'narrowed', 0o600],
    [0o601, 'narrowed', 0o600],
    [0o600, 'private', 0o600],
    [0o400, 'private', 0o400],
  ] as const)('of mode %o is %s', (before, answer, after) => {
    const file = path.join(tempFolder(), 'f');
    writeFileSync(file, '');
    chmodSync(file, before);
    expect(narrowFile(file, 'linux')).toBe(answer);
    expect(modeOf(file)).toBe(after);
  });

  test('on Windows is left alone', () => {
    const file = path.join(tempFolder(), 'f');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    expect(narrowFile(file, 'win32')).toBe('private');
    expect(modeOf(file)).toBe(0o644);
  });

  test('that is missing is no concern', () => {
    expect(narrowFile(path.join(tempFolder(), 'none'), 'linux')).toBe('private');
  });
});

test('in words', () => {
  expect(privacyWarnings({ narrowed: ['/a'], exposed: ['/b'] })).toEqual([
    '/a could be read by others; it is now private (0600)',
    '/b can be read by others, and its mode cannot be changed: run chmod 600 as its owner',
  ]);
});
