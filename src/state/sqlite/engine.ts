import { join } from 'node:path';
import process from 'node:process';
import { FailureError } from '../../shared/errors.ts';
import { sqlite } from '../../shared/sqlite-engine.ts';
import type { Row, Value } from '../statements.ts';

/**
 * The part of SQLite that is used, by the names of `node:sqlite`. @photostructure/sqlite has the same. It waits for another process for as long as
 * `timeout`, in milliseconds.
 */
export interface Engine {
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly readOnly?: boolean; readonly timeout?: number },
  ) => Database;
}

export interface Database {
  /** Runs statements that give no rows. */
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
  readonly isTransaction: boolean;
}

export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
}

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
