import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FailureError } from '../src/shared/errors.ts';

/**
 * Returns the licences of petstock and of the packages in it. The build writes them to a file beside the program; an
 * executable contains that file.
 * @throws FailureError if the file is missing
 */
export async function readLicences(): Promise<string> {
  try {
    return await readFile(createRequire(import.meta.url).resolve('./LICENSES.txt'), 'utf8');
  } catch (cause) {
    throw new FailureError('The file LICENSES.txt is missing beside the program. Install petstock again', { cause });
  }
}
