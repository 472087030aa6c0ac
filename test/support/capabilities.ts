import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const succeeds = ([program = '', ...args]: readonly string[]) => spawnSync(program, args).status === 0;

/** Whether the tests run as root, who can change the owner of a file and is not restricted by modes. */
export const isRoot = process.geteuid?.() === 0;

/** Whether there is a device on which every write fails as on a full disk. */
export const hasFullDevice = existsSync('/dev/full');

/** Whether `tail` notices that the reader of its output has exited. */
export const hasGnuTail = `${spawnSync('tail', ['--version']).stdout}`.includes('GNU coreutils');

export const canMakeFifos = succeeds(['mkfifo', '--version']) || process.platform === 'darwin';

/**
 * Returns a command that starts the rest of a command line as `root` in new namespaces; undefined if that is not
 * permitted.
 */
function unsharing(...options: readonly string[]): readonly string[] | undefined {
  const asRoot = isRoot ? [] : ['--user', '--map-root-user'];
  const command = ['unshare', ...asRoot, ...options, '--fork'];
  return succeeds([...command, 'true']) ? command : undefined;
}

/** The command that starts a program with pid 1, as in a container; undefined if that is not permitted. */
export const pidNamespace = unsharing('--pid', '--mount-proc');

/** The command that starts a program whose monotonic clock is 5,000 s ahead; undefined if that is not permitted. */
export const timeNamespace = unsharing('--time', '--monotonic', '5000', '--boottime', '5000');

/** The command that starts a program with mounts of its own; undefined if that is not permitted. */
export const mountNamespace = unsharing('--mount');
