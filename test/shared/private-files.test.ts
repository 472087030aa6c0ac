import fs from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { readPrivateFile, readTrustedFile } from '../../src/shared/private-files.ts';
import { isRoot } from '../support/capabilities.ts';
import { newFolder } from '../support/new-folder.ts';

/** Creates a file with a mode, whatever the umask, in a folder that others may enter. */
function fileOf(mode: number, name = 'file'): string {
  const folder = newFolder();
  fs.chmodSync(folder, 0o755);
  const path = join(folder, name);
  fs.writeFileSync(path, 'psk_1');
  fs.chmodSync(path, mode);
  return path;
}

function linkTo(target: string): string {
  const path = join(newFolder(), 'link');
  fs.symlinkSync(target, path);
  return path;
}

describe('readPrivateFile', () => {
  it('returns undefined for a private file that is missing', () => {
    expect(readPrivateFile(join(newFolder(), 'missing'))).toBeUndefined();
  });

  it('reads a private file without a warning', () => {
    expect(readPrivateFile(fileOf(0o600))).toEqual({ text: 'psk_1', warning: undefined });
  });

  it('makes a private file private again if others can read it, and warns once', () => {
    const path = fileOf(0o644);
    expect(readPrivateFile(path)?.warning).toBe(`${path} could be read by others. It is now private (0600)`);
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(readPrivateFile(path)?.warning).toBeUndefined();
  });

  it.runIf(isRoot && isMainThread)("leaves root's file unchanged, and warns that others can read it", () => {
    const path = fileOf(0o644);
    process.seteuid?.(1234);
    try {
      const warning = `${path} can be read by others, and its permissions can't be changed: run chmod 600 as its owner`;
      expect(readPrivateFile(path)).toEqual({ text: 'psk_1', warning });
    } finally {
      process.seteuid?.(0);
    }
    expect(fs.statSync(path).mode & 0o777).toBe(0o644);
  });

  it('rejects a link into a folder that others can write to', () => {
    const target = fileOf(0o600);
    fs.chmodSync(join(target, '..'), 0o777);
    expect(() => readPrivateFile(linkTo(target))).toThrow('others can write to it');
  });

  it.each<[string, (folder: string) => string, string | undefined]>([
    ['a folder', (folder) => folder, 'it is a folder, not a file'],
    ['a device', () => '/dev/null', 'it is not a file'],
    [
      'a link without a target',
      (folder) => linkTo(join(folder, 'missing')),
      'it is a symbolic link whose target does not exist',
    ],
    [
      'links in a circle',
      (folder) => {
        fs.symlinkSync(join(folder, 'b'), join(folder, 'a'));
        fs.symlinkSync(join(folder, 'a'), join(folder, 'b'));
        return join(folder, 'a');
      },
      'it is a symbolic link whose target does not exist',
    ],
    ['a file that others can write to', () => fileOf(0o622), 'others can write to it'],
    ['a link to a file that others can write to', () => linkTo(fileOf(0o622)), 'others can write to it'],
  ])('rejects %s in place of a private file', (_, make, reason) => {
    expect(() => readPrivateFile(make(newFolder()))).toThrow(reason);
  });

  it('follows a relative link with dots and doubled slashes', () => {
    const folder = newFolder();
    fs.mkdirSync(join(folder, 'inner'), { mode: 0o700 });
    fs.writeFileSync(join(folder, 'inner', 'key'), 'psk_1', { mode: 0o600 });
    fs.symlinkSync('.//inner/../inner/./key', join(folder, 'link'));
    expect(readPrivateFile(join(folder, 'link'))?.text).toBe('psk_1');
  });

  it('follows a link of the user into a folder of the user', () => {
    expect(readPrivateFile(linkTo(fileOf(0o600)))?.text).toBe('psk_1');
  });
});

describe('readTrustedFile', () => {
  it('reads a trusted file that others may read, up to its maximum', () => {
    expect(readTrustedFile(fileOf(0o644), 5)).toBe('psk_1');
  });

  it('rejects a trusted file that is longer than its maximum', () => {
    expect(() => readTrustedFile(fileOf(0o644), 4)).toThrow('it is too large');
  });
});
