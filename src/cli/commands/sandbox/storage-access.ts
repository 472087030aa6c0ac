import { existsSync, rmSync } from 'node:fs';
import type { SeedStock, ServiceStorage } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { petstock } from '../../../shared/hint.ts';
import { privateDatabase } from '../../../shared/private-files.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { openSandbox, sandboxFile, storageError, withUsageErrors } from '../../sandbox.ts';
import { sandboxOptions, type Values } from './sandbox-options.ts';

/** The storage that a command uses. Default: the sandbox's own. */
export type StorageChoice = Pick<Values, 'file' | 'database'>;

type ChosenStorage = { readonly file: string; readonly isOwn: boolean } | { readonly database: string };

export const storageOptions = sandboxOptions(['file', 'database'], {
  file: 'database file (default: the file of --env sandbox)',
  database: 'a PostgreSQL database instead of a file: postgres://user@host:5432/name',
});

/**
 * Returns the chosen file or database.
 * @throws UsageError if both are given, if the file is `:memory:`, if it does not exist and is not the sandbox's own,
 * or if another user owns it or can write to it
 */
export function chosenStorage({ context }: Invocation, { file, database }: StorageChoice): ChosenStorage {
  const ownFile = sandboxFile(context.folders.state);
  if (database !== undefined) {
    if (file !== undefined) throw new UsageError("--file and --database can't be used together. Leave one out");
    return { database };
  }
  if (file === undefined || file === ownFile) return { file: ownFile, isOwn: true };
  if (file === ':memory:') throw new UsageError('--file :memory: stores nothing between commands');
  const path = withUsageErrors(() => privateDatabase(file));
  if (!existsSync(path)) {
    throw new UsageError(`There is no file ${file}`, { hint: petstock`sandbox serve --file ${file}` });
  }
  return { file: path, isOwn: false };
}

interface Opening {
  readonly stock?: SeedStock;
  readonly readOnly?: boolean;
  /** Whether a damaged file may be replaced by a new one. */
  readonly replacesDamaged?: boolean;
}

/**
 * Runs `work` with the storage open. The sandbox's own is created on first use, unless `readOnly` is set.
 * @throws UsageError if it can't be opened, or is not a storage of the service; UnavailableError if the database does
 * not respond
 */
export async function withStorage<Result>(
  { context }: Invocation,
  chosen: ChosenStorage,
  work: (storage: ServiceStorage) => Promise<Result>,
  { stock, readOnly = false, replacesDamaged = false }: Opening = {},
): Promise<Result> {
  const { openStorage, StorageError } = await import('../../../service/index.ts');
  if ('file' in chosen && chosen.isOwn && !readOnly) await openSandbox(context.folders.state);
  try {
    const open = () => openStorage({ ...chosen, clock: context.clock, stock, readOnly });
    const storage = await open().catch((error: unknown) => {
      const isDamaged = error instanceof StorageError && error.kind === 'damaged';
      if (!(isDamaged && replacesDamaged && 'file' in chosen)) throw error;
      for (const suffix of ['', '-wal', '-shm']) rmSync(chosen.file + suffix, { force: true });
      return open();
    });
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  } catch (error) {
    throw await storageError(error, chosen);
  }
}

/** Returns the name of the storage for messages: a file, or the host and name of a database, never its password. */
export function storageName(chosen: ChosenStorage): string {
  if ('file' in chosen) return chosen.file;
  // The text is not parsed as a URL, because the host may be the folder of a socket.
  return chosen.database.replace(/^\w+:\/\/([^@/]*@)?/, '').replace(/\?.*$/, '');
}
