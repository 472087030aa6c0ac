import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { platform as currentPlatform } from 'node:os';
import path from 'node:path';

const privateFolder = 0o700;
const privateFile = 0o600;
/** The bits of group and others. */
const others = 0o077;
const sticky = 0o1000;

/**
 * Makes sure that the folder is there and that nobody else can look into it (0700).
 *
 * An existing one that is wider is tightened, except where it is evidently not ours alone: it belongs to somebody else, is
 * shared (`/tmp`), or holds folders and is not called `petstock` (a home, `/etc`). On Windows the folder inherits the rights of the profile.
 *
 * @throws the error of `node:fs` where the folder cannot be made
 */
export function makePrivateFolder(folder: string, platform: string = currentPlatform()): void {
  mkdirSync(folder, { recursive: true, mode: privateFolder });
  if (platform === 'win32') return;
  const { mode } = statSync(folder);
  if ((mode & others) !== 0 && (mode & sticky) === 0 && isOurs(folder)) tryChmod(folder, privateFolder);
}

function isOurs(folder: string): boolean {
  if (path.basename(folder) === 'petstock') return true;
  try {
    return readdirSync(folder, { withFileTypes: true }).every((entry) => !entry.isDirectory());
  } catch {
    return false;
  }
}

/**
 * Narrows a file that others can read or write to 0600.
 *
 * - `private`: nothing to do; there is no such file, or this is Windows
 * - `narrowed`: it was wider, and is 0600 now: warn
 * - `exposed`: it is wider, and cannot be changed (another owner, a read-only disk): warn
 */
export function narrowFile(file: string, platform: string = currentPlatform()): 'private' | 'narrowed' | 'exposed' {
  if (platform === 'win32') return 'private';
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & others) === 0) return 'private';
  return tryChmod(file, privateFile) ? 'narrowed' : 'exposed';
}

/** Paths of files that others could read. */
export interface PrivacyFindings {
  /** Were wider than 0600, and are 0600 now. */
  readonly narrowed: readonly string[];
  /** Are wider than 0600, and could not be changed. */
  readonly exposed: readonly string[];
}

/** One line for each finding, to be shown as a warning. */
export function privacyWarnings({ narrowed, exposed }: PrivacyFindings): string[] {
  return [
    ...narrowed.map((file) => `${file} could be read by others; it is now private (0600)`),
    ...exposed.map(
      (file) => `${file} can be read by others, and its mode cannot be changed: run chmod 600 as its owner`,
    ),
  ];
}

function tryChmod(target: string, mode: number): boolean {
  try {
    chmodSync(target, mode);
    return true;
  } catch {
    return false;
  }
}
