import { realpathSync, statfsSync } from 'node:fs';
import { platform } from 'node:os';

/** Calls to the operating system; tests replace them. */
const realSystem = {
  platform: platform() as string,
  /** Returns a path with its links resolved; on Windows, with a network drive letter replaced by its share. */
  realpath: (folder: string) => realpathSync.native(folder),
  typeOf: (folder: string) => statfsSync(folder).type,
  mounts: async () => {
    const { execFileSync } = await import('node:child_process');
    return execFileSync('/sbin/mount', { encoding: 'utf8', timeout: 5000, env: {} });
  },
};

/** The numbers of NFS, SMB (three of them), 9P, Ceph, AFS, Lustre and FUSE. */
const remoteTypes = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x65735546,
]);

/**
 * Reports whether a folder is probably on another machine, where SQLite's locks are not reliable. On Linux, the kind of
 * the file system decides (FUSE counts, too); on Windows, the path; on macOS, the table of mounts, because macOS
 * numbers file systems dynamically. A folder about which this can't be found out counts as local.
 */
export async function isOnNetwork(folder: string, system = realSystem): Promise<boolean> {
  try {
    if (system.platform === 'win32') return isShare(system.realpath(folder));
    const type = system.typeOf(folder);
    if (system.platform !== 'darwin') return remoteTypes.has(type);
    // The folder nearly always has the same type of file system as `/`; then no process is started.
    return type !== system.typeOf('/') && isRemoteMount(await system.mounts(), system.realpath(folder));
  } catch {
    return false;
  }
}

/** Reports whether a path is a share: `\\server\share` or `\\?\UNC\server\share`, but not `\\?\C:\` or `\\.\`. */
function isShare(path: string): boolean {
  return /^[\\/]{2}(?:\?[\\/]UNC[\\/]|(?![?.][\\/]))/i.test(path);
}

const remoteKinds = new Set(['smbfs', 'nfs', 'afpfs', 'webdav', 'cifs', 'ftp', 'macfuse', 'osxfuse']);

/** @param mounts one per line: `//guest@nas/stock on /Volumes/stock (smbfs, nodev, nosuid)` */
function isRemoteMount(mounts: string, folder: string): boolean {
  const found = mounts.split('\n').flatMap((line) => {
    const [, mountPoint, kind] = /^.* on (\/.*) \(([^,)]+).*\)$/.exec(line) ?? [];
    return mountPoint !== undefined && kind !== undefined && isWithin(folder, mountPoint) ? [{ mountPoint, kind }] : [];
  });
  const nearest = found.toSorted((a, b) => b.mountPoint.length - a.mountPoint.length)[0];
  return nearest !== undefined && remoteKinds.has(nearest.kind);
}

function isWithin(folder: string, parent: string): boolean {
  return parent === '/' || folder === parent || folder.startsWith(`${parent}/`);
}
