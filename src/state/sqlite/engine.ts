import { accessSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { FailureError } from '../../shared/errors.ts';
import { systemCode } from '../../shared/file-error.ts';
import { sqlite } from '../../shared/sqlite-engine.ts';

/** SQLite with the names of `node:sqlite`; @photostructure/sqlite uses the same names. */
export type Engine = Pick<ReturnType<typeof sqlite>, 'DatabaseSync'>;

export function stateFile(folder: string): string {
  return join(folder, 'state.db');
}

/** Reports whether a folder has a state, or can't be searched for one. */
export function mayHaveState(folder: string): boolean {
  try {
    accessSync(stateFile(folder));
    return true;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
  }
}

/**
 * Loads SQLite from Node, or, before Node 22.18, from the bundled package.
 * @throws FailureError if neither is available
 */
export async function loadEngine(version = process.versions.node, load: () => unknown = sqlite): Promise<Engine> {
  try {
    return (await load()) as Engine;
  } catch (cause) {
    throw new FailureError(
      `SQLite can't be loaded on Node ${version} (${(cause as Error).message}). Use Node 22.18 or later`,
      { cause },
    );
  }
}
