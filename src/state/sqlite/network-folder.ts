import { realpathSync, statfsSync } from 'node:fs';
import { platform } from 'node:os';

/** Questions to the system, for tests to replace. */
const realSystem = {
  platform: platform() as string,
  /** Returns a path with its links followed; on Windows with a drive letter of the network as what it stands for. */
  realpath: (folder: string) => realpathSync.native(folder),
  typeOf: (folder: string) => statfsSync(folder).type,
  mounts: async () => {
    const { execFileSync } = await import('node:child_process');
    return execFileSync('/sbin/mount', { encoding: 'utf8', timeout: 5000, env: {} });
  },
};

/** NFS, SMB (three numbers), 9P, Ceph, AFS, Lustre and FUSE. */
const remoteTypes = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x65735546,
]);

/**
 * Whether a folder is on another machine, where the locks that SQLite relies on can't be trusted: by the kind of its file system; on Windows a share
 * by its path; on macOS, whose numbers of file systems are given out as they are loaded, by the table of mounts. What can't be found out counts as local.
 */
export async function isOnNetwork(folder: string, system = realSystem): Promise<boolean> {
  try {
    if (system.platform === 'win32') return isShare(system.realpath(folder));
    const type = system.typeOf(folder);
    if (system.platform !== 'darwin') return remoteTypes.has(type);
    // Nearly always the same disk, and then nothing is started.
    return type !== system.typeOf('/') && isRemoteMount(await system.mounts(), system.realpath(folder));
  } catch {
    return false;
  }
}

/** `\\server\share`, also as `\\?\UNC\server\share`; but `\\?\C:\` and `\\.\` are of this machine. */
function isShare(path: string): boolean {
  return /^[\\/]{2}(?:\?[\\/]UNC[\\/]|(?![?.][\\/]))/i.test(path);
}

const remoteKinds = new Set(['smbfs', 'nfs', 'afpfs', 'webdav', 'cifs', 'ftp', 'macfuse', 'osxfuse']);

/** @param mounts a line each: `//guest@nas/stock on /Volumes/stock (smbfs, nodev, nosuid)` */
function isRemoteMount(mounts: string, folder: string): boolean {
  const found = mounts.split('\n').flatMap((line) => {
    const [, place, kind] = /^.* on (\/.*) \(([^,)]+).*\)$/.exec(line) ?? [];
    return place !== undefined && kind !== undefined && isWithin(folder, place) ? [{ place, kind }] : [];
  });
  const nearest = found.toSorted((a, b) => b.place.length - a.place.length)[0];
  return nearest !== undefined && remoteKinds.has(nearest.kind);
}

function isWithin(folder: string, place: string): boolean {
  return place === '/' || folder === place || folder.startsWith(`${place}/`);
}
