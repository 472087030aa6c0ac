import { hostname } from 'node:os';
import { createSystemClock } from '../../../bin/system-clock.ts';
import type { PlannedRow, RunHead } from '../../../src/inventory/run-records.ts';
import { serviceNameOf } from '../../../src/settings/key-and-url.ts';
import { History } from '../../../src/state/history.ts';
import { countersOf, intend, lastIntent, settle } from '../../../src/state/intents.ts';
import { openState } from '../../../src/state/open-state.ts';

export const clock = createSystemClock();

/** Opens the state in a folder as a command does. */
export async function openBenchState(folder: string) {
  const state = await openState({ folder, url: undefined, clock });
  const history = new History({ store: state, random: Math.random, now: clock.now });
  /** Records a run of which every row was applied. @returns its id */
  const record = async (head: RunHead, rows: readonly PlannedRow[]): Promise<string> => {
    const run = await history.begin(head, rows);
    await state.transact([lastIntent(run.service)], ([counters], moment) => {
      return { writes: intend(run, run.rows, countersOf(counters).last, moment, 30_000), result: undefined };
    });
    for (const row of run.rows)
      Object.assign(row, { result: 'applied', quantity: row.after, inFlightUntil: undefined });
    await state.transact([], (_answers, moment) => ({ writes: settle(run, run.rows, moment), result: undefined }));
    await history.end(run);
    return run.run;
  };
  return { history, record, close: () => state.close() };
}

export function headOf(baseUrl: string): RunHead {
  return {
    ...{ command: 'inventory apply', env: 'staging', store: undefined, baseUrl, service: serviceNameOf(baseUrl) },
    ...{ scope: 'bench', user: 'bench', host: hostname(), pid: process.pid, unchanged: 0 },
  };
}
