import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { KeyRecord, KeyRing, Stock, Store } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { openSandbox, sandboxPlan, serversOf, storeError } from '../../sandbox.ts';
import { requireFileName } from '../values.ts';
import { databaseOf } from './serve-options.ts';

/** Which store a command is about: the sandbox's own where neither is given. */
export interface StoreChoice {
  readonly file?: string;
  readonly database?: string;
}

/** Adds `--file` and `--database`. */
export function withStoreOptions(command: Command): Command {
  return command
    .option('--file <path>', 'database file (default: that of --env sandbox)')
    .option('--database <url>', 'a PostgreSQL in place of a file: postgres://user@host:5432/name');
}

/**
 * The file or the database that is meant; a file other than the sandbox's own has to be there.
 * @throws UsageError
 */
export async function chosenStore(
  { context }: Invocation,
  { file, database }: StoreChoice,
): Promise<{ readonly file: string } | { readonly database: string }> {
  if (database !== undefined) {
    if (file !== undefined) throw new UsageError('--file and --database cannot be used together; leave one out');
    return { database: databaseOf(database) };
  }
  if (file === undefined) return { file: (await openSandbox(context.folders.state)).file };
  requireFileName(file, '--file');
  if (file === ':memory:') throw new UsageError('--file :memory: keeps nothing between commands');
  if (!existsSync(file)) {
    throw new UsageError(`There is no file ${file}`, { hint: `petstock sandbox serve --file ${shellWord(file)}` });
  }
  return { file };
}

/**
 * Opens the store for as long as `work` takes.
 * @param stock what a new one is filled with
 * @throws UsageError when it can't be opened, or is not one of the service
 */
export async function withStore<Result>(
  invocation: Invocation,
  chosen: StoreChoice,
  work: (store: Store) => Promise<Result>,
  stock?: Stock,
): Promise<Result> {
  const { openStore } = await import('../../../service/index.ts');
  try {
    const store = await openStore({ ...chosen, ...serversOf(chosen), clock: invocation.context.clock, stock });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw await storeError(error, chosen);
  }
}

/** How the store is named in messages: a file, or the host and name of a database, never its password. */
export function nameOfStore(chosen: { readonly file: string } | { readonly database: string }): string {
  if ('file' in chosen) return chosen.file;
  // No URL: the host may be a folder, and then there is none before the name.
  return chosen.database.replace(/^\w+:\/\/([^@/]*@)?/, '').replace(/\?.*$/, '');
}

/** Keys of a store, for one command. */
interface OpenKeys {
  /** The file, or how the database is named. */
  readonly file: string;
  readonly ring: KeyRing;
  /** The sandbox's own key, which every start makes known. */
  readonly own: { readonly key: string; readonly record: KeyRecord };
}

/**
 * Opens the keys of a store for as long as `work` takes.
 * @param choice the sandbox's own file, which is made on first use, where it names none
 * @throws UsageError when another file does not exist, or is no database of the service
 */
export async function withKeys<Result>(
  invocation: Invocation,
  choice: StoreChoice,
  work: (keys: OpenKeys) => Promise<Result>,
): Promise<Result> {
  const { context } = invocation;
  const chosen = await chosenStore(invocation, choice);
  const { openKeyRing } = await import('../../../service/index.ts');
  const sandbox = await openSandbox(context.folders.state);
  try {
    const ring = await openKeyRing({ ...chosen, clock: context.clock });
    try {
      const record = await ring.adopt(sandbox.key, sandboxPlan, { keepsKnown: true });
      return await work({ file: nameOfStore(chosen), ring, own: { key: sandbox.key, record } });
    } finally {
      await ring.close();
    }
  } catch (error) {
    throw await storeError(error, chosen);
  }
}
