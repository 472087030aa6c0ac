import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What this machine and this user allow. A test that needs more is guarded by `runIf`. */

const succeeds = ([program = '', ...args]: readonly string[]) => spawnSync(program, args).status === 0;

/** May own files as another user, and is not held up by modes. */
export const isRoot = process.geteuid?.() === 0;

/** A device on which every write meets a full disk. */
export const hasFullDevice = existsSync('/dev/full');

export const canMakeFifos = succeeds(['mkfifo', '--version']) || process.platform === 'darwin';

/** Starts the rest of a command line as `root` of new namespaces, if that is permitted. */
function unsharing(...options: readonly string[]): readonly string[] | undefined {
  const asRoot = isRoot ? [] : ['--user', '--map-root-user'];
  const command = ['unshare', ...asRoot, ...options, '--fork'];
  return succeeds([...command, 'true']) ? command : undefined;
}

/** Starts a program in a container, as far as pids go: it has pid 1. */
export const pidNamespace = unsharing('--pid', '--mount-proc');

/** Starts a program whose monotonic clock is 5,000 s ahead. */
export const timeNamespace = unsharing('--time', '--monotonic', '5000', '--boottime', '5000');

/** Starts a program with mounts of its own. */
export const mountNamespace = unsharing('--mount');
