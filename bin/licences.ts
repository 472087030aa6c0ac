import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FailureError } from '../src/shared/errors.ts';

/**
 * Returns the licences of petstock and of what goes with it. The build writes them to a file beside the program; an executable has
 * that file in it.
 * @throws FailureError if that is not there
 */
export async function readLicences(): Promise<string> {
  try {
    return await readFile(createRequire(import.meta.url).resolve('./LICENSES.txt'), 'utf8');
  } catch (cause) {
    throw new FailureError('The file LICENSES.txt is not beside the program: the build writes it', { cause });
  }
}
