import fs from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { FailureError } from '../../src/shared/errors.ts';
import { makePrivateFolder, requirePrivateFolder } from '../../src/shared/private-files.ts';
import { isRoot } from '../support/capabilities.ts';
import { newFolder } from '../support/new-folder.ts';
import fc, { property } from '../support/properties.ts';

const modeOf = (path: string) => fs.statSync(path).mode & 0o7777;

/** Creates a folder with a mode, whatever the umask, and with another owner if one is given. */
function folderOf(mode: number, owner?: number): string {
  const path = join(newFolder(), 'folder');
  fs.mkdirSync(path);
  fs.chmodSync(path, mode);
  if (owner !== undefined) fs.chownSync(path, owner, owner);
  return path;
}

function linkTo(target: string, owner?: number): string {
  const path = join(newFolder(), 'link');
  fs.symlinkSync(target, path);
  if (owner !== undefined) fs.lchownSync(path, owner, owner);
  return path;
}

function refusal(path: string, act = makePrivateFolder): string {
  try {
    act(path);
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    return (error as FailureError).message.replaceAll(path, 'PATH').replace("The folder PATH can't be used: ", '');
  }
  return 'not refused';
}

/** Checks that creating and using the folder are both refused, and that its mode stays. */
function refused(path: string, mode: number, reason: string): void {
  expect([refusal(path), refusal(path, requirePrivateFolder), modeOf(path)]).toEqual([reason, reason, mode]);
}

test('creates a missing folder and its parents, which only this user can open', () => {
  const path = join(newFolder(), 'a', 'b', 'c');
  // A missing folder is accepted for reading, and is not created.
  requirePrivateFolder(path);
  expect(fs.existsSync(join(path, '../..'))).toBe(false);
  makePrivateFolder(path);
  expect([modeOf(path), modeOf(join(path, '..')), modeOf(join(path, '../..'))]).toEqual([0o700, 0o700, 0o700]);
});

test.each(['700', '755', '711', '500', '2700', '1755'])(
  'uses a folder of the user with mode %s, and does not change it',
  (octal) => {
    const mode = Number.parseInt(octal, 8);
    const path = folderOf(mode);
    makePrivateFolder(path);
    requirePrivateFolder(path);
    expect(modeOf(path)).toBe(mode);
  },
);

const isWritable = 'others can write to it: run chmod go-w PATH, or choose another folder';
const isShared = 'all users share it: choose a folder below it, such as PATH/petstock';

test.each([
  ['775', isWritable],
  ['757', isWritable],
  ['777', isWritable],
  ['2770', isWritable],
  ['1777', isShared],
])('refuses a folder with mode %s, and does not change it', (octal, reason) => {
  const mode = Number.parseInt(octal, 8);
  refused(folderOf(mode), mode, reason);
});

const isOthers = (uid: number) => `it belongs to another user (uid ${uid}): choose a folder of your own`;

test.runIf(isRoot)('lets root read from a folder of another user, but not write to it, nor follow a link', () => {
  const path = folderOf(0o700, 1234);
  requirePrivateFolder(path);
  expect([refusal(path), modeOf(path)]).toEqual([isOthers(1234), 0o700]);
  const message = 'it is a symbolic link of another user (uid 1234): choose a folder of your own';
  expect(refusal(linkTo(folderOf(0o700), 1234))).toBe(message);
});

test.runIf(isRoot && isMainThread)("accepts root's folder to read from, but not to write to", () => {
  const path = folderOf(0o755);
  fs.chmodSync(join(path, '..'), 0o755);
  process.seteuid?.(1234);
  try {
    requirePrivateFolder(path);
    expect(refusal(path)).toBe(isOthers(0));
  } finally {
    process.seteuid?.(0);
  }
});

test('judges a symbolic link of the user by its target', () => {
  const path = linkTo(folderOf(0o700));
  makePrivateFolder(path);
  requirePrivateFolder(path);
  refused(linkTo(folderOf(0o1777)), 0o1777, isShared);
});

test('refuses a link to a missing target, even above the folder, and does not create the target', () => {
  const target = join(newFolder(), 'missing');
  const link = linkTo(target);
  const message = 'it is a symbolic link whose target does not exist: create the target, or remove the link';
  expect([refusal(link), refusal(link, requirePrivateFolder)]).toEqual([message, message]);
  expect(refusal(join(link, 'a'))).toContain(`no folder can be created in ${link}`);
  expect(fs.existsSync(target)).toBe(false);
});

test('refuses links that form a loop', () => {
  const path = join(newFolder(), 'circle');
  fs.symlinkSync(path, path);
  expect(refusal(path)).toBe('its symbolic links form a loop');
  expect(refusal(join(path, 'a', 'b'))).toContain('form a loop');
});

test('refuses a file in place of the folder or of a parent folder', () => {
  const file = join(newFolder(), 'file');
  fs.writeFileSync(file, '');
  refused(file, modeOf(file), 'it is not a folder');
  expect(refusal(join(file, 'a', 'b'))).toContain('a part of its path is a file');
});

test.runIf(process.platform === 'linux').each([
  ['/proc/x', '/proc/x', 'no folder can be created in /proc'],
  ['/proc/x/y/z', '/proc/x', 'no folder can be created in /proc'],
  ['/dev/null', '/dev/null', 'it is not a folder'],
  ['/dev/null/x', '/dev/null/x', 'a part of its path is a file'],
  ['/sys/x', '/sys/x', 'you have no permission to write there'],
])('refuses the folder %s', (path, named, reason) => {
  expect(() => makePrivateFolder(path)).toThrow(`The folder ${named} can't be used: ${reason}`);
});

const put = {
  missing: () => {},
  folder: (path: string) => fs.mkdirSync(path),
  file: (path: string) => fs.writeFileSync(path, ''),
  link: (path: string) => fs.symlinkSync('.', path),
};
const kinds = fc.constantFrom(...(Object.keys(put) as (keyof typeof put)[]));
const modes = fc.integer({ min: 0, max: 0o7777 }).map((mode) => mode | 0o700);
const depths = fc.nat({ max: 3 });

property(
  'either creates or refuses a folder, and leaves existing folders unchanged',
  [kinds, modes, depths],
  (kind, mode, depth) => {
    const path = join(newFolder(), 'a');
    put[kind](path);
    const exists = kind === 'folder' || kind === 'file';
    if (exists) fs.chmodSync(path, mode);
    const wanted = join(path, ...Array<string>(depth).fill('b'));
    const isWide = kind === 'folder' && depth === 0 && (mode & 0o022) !== 0;
    expect(refusal(wanted) !== 'not refused').toBe(kind === 'file' || isWide);
    if (exists) expect(modeOf(path)).toBe(mode);
    if (depth > 0 && kind !== 'file') expect(modeOf(wanted) & 0o777).toBe(0o700);
  },
);
