import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEngine } from '../../../src/state/sqlite/engine.ts';

export interface Run {
  /** The file with what it printed as JSON. */
  readonly report: string;
  readonly state: string;
  readonly changes: number;
}

/** @throws when a run of `inventory apply` does not report every change as applied, or its history has not all of them */
export async function requireApplied({ report, state, changes }: Run): Promise<void> {
  const { counts } = JSON.parse(readFileSync(report, 'utf8')) as { counts: Record<string, number> };
  if (counts.applied !== changes) throw new Error(`it reports ${JSON.stringify(counts)}`);
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(join(state, 'state.db'));
  try {
    const found = database.prepare("SELECT count(*) AS rows FROM rows WHERE result = 'applied'").get();
    if (found?.rows !== changes) throw new Error(`its history has ${found?.rows} rows that were applied`);
  } finally {
    database.close();
  }
}
