import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Puts the names of a folder on disk: without that a new file may be gone after a power cut. Windows has no such call. */
export function syncFolder(folder: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(descriptor);
  } catch {
    // The file system knows no such thing.
  } finally {
    closeSync(descriptor);
  }
}
