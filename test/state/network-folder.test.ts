import { expect, test } from 'vitest';
import { isOnNetwork } from '../../src/state/sqlite/network-folder.ts';

const unasked = () => {
  throw new Error('it was asked');
};

test.each([
  [String.raw`C:\Users\ada\AppData\Local\petstock`, false],
  [String.raw`\\nas\stock\petstock`, true],
  [String.raw`\\?\UNC\nas\stock\petstock`, true],
  ['//nas/stock/petstock', true],
  [String.raw`\\?\C:\petstock`, false],
  [String.raw`\\.\C:\petstock`, false],
])('decides whether %s is on the network on Windows: %s', async (real, expected) => {
  // A drive letter of the network is resolved to its share.
  const system = { platform: 'win32', realpath: () => real, typeOf: unasked, mounts: unasked };
  expect(await isOnNetwork(String.raw`Z:\petstock`, system)).toBe(expected);
});

const mounts = `/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//guest@nas/stock on /Volumes/stock (smbfs, nodev, nosuid, mounted by ada)
/dev/disk5s1 on /Volumes/stock/inner (msdos, local, nodev)
/dev/disk4s1 on /Volumes/stock room (exfat, local, nodev)
nas:/export on /Volumes/a on b (nfs, nodev)
`;

test.each([
  ['/Volumes/stock/petstock', true],
  ['/Volumes/stock', true],
  ['/Volumes/stock/inner/petstock', false],
  ['/Volumes/stock room/petstock', false],
  ['/Volumes/a on b/petstock', true],
  ['/Users/ada/petstock', false],
])('decides whether %s is on the network on macOS: %s', async (folder, expected) => {
  const typeOf = (path: string) => (path === '/' ? 26 : 31);
  const system = { platform: 'darwin', realpath: (path: string) => path, typeOf, mounts: async () => mounts };
  expect(await isOnNetwork(folder, system)).toBe(expected);
});

test('does not list the mounts of macOS if the folder is on the system disk', async () => {
  const system = { platform: 'darwin', realpath: unasked, typeOf: () => 26, mounts: unasked };
  expect(await isOnNetwork('/Users/ada/petstock', system)).toBe(false);
});

test.each([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0xef53])(
  'decides whether a file system of type %i is on the network on Linux',
  async (type) => {
    const system = { platform: 'linux', realpath: unasked, typeOf: () => type, mounts: unasked };
    expect(await isOnNetwork('/home/ada', system)).toBe(type !== 0xef53);
  },
);

test("treats a folder as local if Windows can't resolve its path", async () => {
  const system = { platform: 'win32', realpath: unasked, typeOf: unasked, mounts: unasked };
  expect(await isOnNetwork(String.raw`Z:\petstock`, system)).toBe(false);
});
