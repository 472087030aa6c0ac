import { join } from 'node:path';
import { sqlite } from '../../src/shared/sqlite-engine.ts';

/**
 * Runs statements on the state database in a folder, in order.
 * @returns the rows of the last statement
 */
export async function stateSql(folder: string, ...statements: readonly string[]) {
  const database = new (sqlite().DatabaseSync)(join(folder, 'state.db'));
  try {
    return statements.map((sql) => database.prepare(sql).all()).at(-1) ?? [];
  } finally {
    database.close();
  }
}
