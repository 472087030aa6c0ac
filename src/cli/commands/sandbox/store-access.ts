import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Stock, Store } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { openSandbox, sandboxFile, serversOf, storeError } from '../../sandbox.ts';
import { requireFileName } from '../values.ts';
import { databaseOf } from './serve-options.ts';

/** Which store a command is about: the sandbox's own if neither is given. */
export interface StoreChoice {
  readonly file?: string;
  readonly database?: string;
}

type ChosenStore = { readonly file: string } | { readonly database: string };

/** Adds `--file` and `--database`. */
export function withStoreOptions(command: Command): Command {
  return command
    .option('--file <path>', 'database file (default: that of --env sandbox)')
    .option('--database <url>', 'a PostgreSQL instead of a file: postgres://user@host:5432/name');
}

/**
 * Returns the file or the database that is meant; a file other than the sandbox's own has to exist.
 * @throws UsageError
 */
export async function chosenStore({ context }: Invocation, { file, database }: StoreChoice): Promise<ChosenStore> {
  if (database !== undefined) {
    if (file !== undefined) throw new UsageError('--file and --database cannot be used together; leave one out');
    return { database: databaseOf(database) };
  }
  if (file === undefined) return { file: sandboxFile(context.folders.state) };
  requireFileName(file, '--file');
  if (file === ':memory:') throw new UsageError('--file :memory: keeps nothing between commands');
  if (!existsSync(file)) {
    throw new UsageError(`There is no file ${file}`, { hint: `petstock sandbox serve --file ${shellWord(file)}` });
  }
  return { file };
}

/**
 * Opens the store for as long as `work` takes. The sandbox's own is made on first use.
 * @param stock what a new one is filled with
 * @param onlyLooks whether nothing is to be made or changed
 * @throws UsageError if it can't be opened, or is not one of the service
 */
export async function withStore<Result>(
  { context }: Invocation,
  chosen: ChosenStore,
  work: (store: Store) => Promise<Result>,
  { stock, onlyLooks = false }: { readonly stock?: Stock; readonly onlyLooks?: boolean } = {},
): Promise<Result> {
  const { openStore } = await import('../../../service/index.ts');
  const isOwn = 'file' in chosen && chosen.file === sandboxFile(context.folders.state);
  if (isOwn && !onlyLooks) await openSandbox(context.folders.state);
  try {
    const store = await openStore({
      ...chosen,
      ...('database' in chosen && serversOf(chosen)),
      clock: context.clock,
      stock,
      onlyLooks,
    });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw await storeError(error, { ...chosen, isOwn });
  }
}

/** Returns how the store is named in messages: a file, or the host and name of a database, never its password. */
export function nameOfStore(chosen: ChosenStore): string {
  if ('file' in chosen) return chosen.file;
  // No URL: the host may be a folder, and then there is none before the name.
  return chosen.database.replace(/^\w+:\/\/([^@/]*@)?/, '').replace(/\?.*$/, '');
}
