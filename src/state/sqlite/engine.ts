import { join } from 'node:path';
import process from 'node:process';
import { FailureError } from '../../shared/errors.ts';
import { sqlite } from '../../shared/sqlite-engine.ts';

/** SQLite by the names of `node:sqlite`; @photostructure/sqlite has the same. */
export type Engine = Pick<ReturnType<typeof sqlite>, 'DatabaseSync'>;

export function stateFile(folder: string): string {
  return join(folder, 'state.db');
}

/**
 * SQLite as Node has it, or, before Node 22.18, as the package that goes with petstock has it.
 * @throws FailureError if there is neither
 */
export async function loadEngine(version = process.versions.node, load: () => unknown = sqlite): Promise<Engine> {
  try {
    return (await load()) as Engine;
  } catch (cause) {
    throw new FailureError(
      `SQLite can't be loaded on Node ${version} (${(cause as Error).message}): use Node 22.18 or later`,
      { cause },
    );
  }
}
