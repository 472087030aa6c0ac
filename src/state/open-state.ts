import { mayHaveState, type StateFileOptions } from './state-file.ts';
import type { Store } from './state-store.ts';

export interface OpenStateOptions extends StateFileOptions {
  /** The URL of a shared state; undefined for this machine's own, in the folder. */
  readonly url: string | undefined;
}

/**
 * Opens the shared state, or this machine's own, which it creates if it is missing.
 * @throws UnavailableError if the state can't be reached or is locked for too long; FailureError if it can't be used
 */
export async function openState({ url, ...options }: OpenStateOptions): Promise<Store> {
  // Loaded late: a command needs one of the two.
  if (url === undefined) return (await import('./sqlite.ts')).openSqlite(options);
  return (await import('./postgres.ts')).openPostgres({ ...options, url });
}

/** Like `openState`, but creates nothing: undefined if there is no state yet. */
export async function openExistingState(options: OpenStateOptions): Promise<Store | undefined> {
  const { url, folder, clock } = options;
  if (url !== undefined) return (await import('./postgres.ts')).openExistingPostgres({ url, clock });
  return mayHaveState(folder) ? openState(options) : undefined;
}
