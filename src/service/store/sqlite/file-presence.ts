import { statSync } from 'node:fs';
import { StorageError } from '../store.ts';
import { IN_MEMORY } from './database.ts';

/**
 * Whether the file that was opened is still where it was. On most systems a file that is deleted or replaced can still be
 * written to, and everything written is lost.
 */
export class FilePresence {
  readonly #file: string;
  readonly #opened: string | null;

  constructor(file: string) {
    this.#file = file;
    this.#opened = file === IN_MEMORY ? null : identityOf(file);
  }

  /** @throws StorageError when it is gone, or another one is in its place */
  require(): void {
    if (this.#opened === null || identityOf(this.#file) === this.#opened) return;
    throw new StorageError(`${this.#file} was deleted or replaced while it was in use. Start the service again`);
  }
}

/** Empty when there is no file. */
function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}
