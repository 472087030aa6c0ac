import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Run {
  /** The file with what it printed as JSON. */
  readonly report: string;
  readonly state: string;
  readonly changes: number;
}

/** @throws when a run of `inventory apply` does not report every change as applied, or its history has not all of them */
export function requireApplied({ report, state, changes }: Run): void {
  const { counts } = JSON.parse(readFileSync(report, 'utf8')) as { counts: Record<string, number> };
  if (counts.applied !== changes) throw new Error(`it reports ${JSON.stringify(counts)}`);
  const folder = join(state, 'history');
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  for (const type of ['intent', 'outcome']) {
    const records = lines.filter((line) => line.includes(`"type":"${type}"`)).length;
    if (records !== changes) throw new Error(`its history has ${records} records of an ${type}`);
  }
}
