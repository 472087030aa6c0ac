import { existsSync } from 'node:fs';
import type { KeyRecord, KeyRing } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { fileError, openSandbox, sandboxPlan } from '../../sandbox.ts';

/** Keys of a database file, for one command. */
export interface OpenKeys {
  readonly file: string;
  readonly ring: KeyRing;
  /** The sandbox's own key, which every start makes known. */
  readonly own: { readonly key: string; readonly record: KeyRecord };
}

/**
 * Opens the keys of a file for as long as `work` takes.
 * @param file default: the sandbox's own, which is made on first use
 * @throws UsageError when another file does not exist, or is no database of the service
 */
export async function withKeys<Result>(
  { context }: Invocation,
  file: string | undefined,
  work: (keys: OpenKeys) => Promise<Result>,
): Promise<Result> {
  if (file === ':memory:') throw new UsageError('--file :memory: keeps no keys');
  if (file !== undefined && !existsSync(file)) {
    throw new UsageError(`There is no file ${file}`, { hint: `petstock sandbox serve --file ${shellWord(file)}` });
  }
  const { openKeyRing } = await import('../../../service/index.ts');
  const sandbox = await openSandbox(context.folders.state);
  const opened = file ?? sandbox.file;
  try {
    const ring = await openKeyRing(opened, context.clock);
    try {
      const record = await ring.adopt(sandbox.key, sandboxPlan, { keepsKnown: true });
      return await work({ file: opened, ring, own: { key: sandbox.key, record } });
    } finally {
      await ring.close();
    }
  } catch (error) {
    throw await fileError(error, opened);
  }
}
