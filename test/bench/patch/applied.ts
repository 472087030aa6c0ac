import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadEngine } from '../../../src/state/sqlite/engine.ts';

export interface Run {
  /** The file with what it printed as JSON. */
  readonly report: string;
  readonly state: string;
  readonly changes: number;
}

/**
 * Waits until the only run of a state has written so many rows.
 * @returns its id
 * @throws where that takes longer than two minutes
 */
export async function untilApplied(state: string, rows: number): Promise<string> {
  const { DatabaseSync } = await loadEngine();
  const file = join(state, 'state.db');
  for (const began = performance.now(); performance.now() - began < 120_000; await delay(5)) {
    if (!existsSync(file)) continue;
    const database = new DatabaseSync(file, { timeout: 5000 });
    try {
      const isMade = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").get() !== undefined;
      const found = isMade ? database.prepare('SELECT run FROM runs WHERE applied >= ?').get(rows) : undefined;
      if (found !== undefined) return String(found.run);
    } finally {
      database.close();
    }
  }
  throw new Error('a run that was to be interrupted writes nothing');
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
