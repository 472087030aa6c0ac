import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FailureError } from '../src/shared/errors.ts';

/**
 * The file that the build writes beside the program. The build of an executable puts the text in the place of this.
 * @throws FailureError where it is not there
 */
export async function readLicences(): Promise<string> {
  try {
    return await readFile(createRequire(import.meta.url).resolve('./LICENSES.txt'), 'utf8');
  } catch (cause) {
    throw new FailureError('The file LICENSES.txt is not beside the program: the build writes it', { cause });
  }
}
