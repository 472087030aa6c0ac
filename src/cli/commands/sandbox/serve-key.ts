import { readFileSync } from 'node:fs';
import { createFileAtomically } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import { readErrorReason, systemCode } from '../../../shared/file-error.ts';
import { secretOf } from './serve-options.ts';
import type { ServeValues } from './serve-values.ts';

/**
 * The key that `--key` names, or the one in the file of `--key-file`: where there is no such file, one is made with a new
 * key, for this user alone. Undefined: that of the sandbox.
 * @throws UsageError for a key or a file that can't be used, unrepeated
 */
export async function serveKey({ key, 'key-file': file }: ServeValues): Promise<string | undefined> {
  if (key !== undefined) return secretOf('--key', key);
  if (file === undefined) return undefined;
  const known = readKey(file);
  if (known !== undefined) return known;
  const { generateKey } = await import('../../../service/index.ts');
  await createFileAtomically(file, `${generateKey()}\n`);
  return readKey(file);
}

function readKey(file: string): string | undefined {
  try {
    return secretOf(`The key in ${file}`, readFileSync(file, 'utf8').trim());
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined;
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`The key in ${file} can't be read: ${readErrorReason(cause)}`, { cause });
  }
}
