import { createSystemClock } from '../../../src/shared/system-clock.ts';
import { createSystemProcesses } from '../../../src/shared/system-processes.ts';
import type { RunHead } from '../../../src/state/history.ts';
import { openState } from '../../../src/state/open-state.ts';
import { serviceOf } from '../../../src/state/service-of.ts';

export interface Generation {
  /** A state folder; made where it is missing. */
  readonly folder: string;
  /** How many runs of one row, over the pets in turn. */
  readonly runs: number;
  readonly baseUrl: string;
  /** What each pet has now; the last run that wrote it wrote that. */
  readonly stock: ReadonlyMap<string, number>;
}

/** A history as so many `inventory adjust` would leave it. @returns the newest run */
export async function generateHistory({ folder, runs, baseUrl, stock }: Generation): Promise<string> {
  const clock = createSystemClock(process.hrtime.bigint);
  const processes = createSystemProcesses({
    pid: process.pid,
    boot: clock.boot(),
    kill: (pid, signal) => process.kill(pid, signal),
  });
  const warn = (line: string) => void process.stderr.write(`${line}\n`);
  const state = await openState({
    folder,
    need: 'history',
    clock,
    processes,
    random: Math.random,
    command: 'bench',
    warn,
  });
  const head: RunHead = {
    command: 'inventory adjust',
    env: 'staging',
    store: undefined,
    baseUrl,
    service: serviceOf(baseUrl),
    scope: 'bench',
    user: 'bench',
    unchanged: 0,
  };
  const pets = [...stock];
  let newest = '';
  try {
    for (let index = 0; index < runs; index += 1) {
      const [petId = '1', after = 0] = pets[index % pets.length] ?? [];
      const row = { row: 1, petId: BigInt(petId) };
      const change = { ...row, line: 1, before: after - 1, after, reason: undefined, ref: undefined };
      const log = await state.history.begin(head, [change]);
      await log.intend([{ ...row, expires: clock.monotonic() + 30_000 }], undefined);
      await log.settle([{ ...row, result: 'applied', quantity: after }]);
      await log.end();
      newest = log.run;
    }
  } finally {
    await state.close();
  }
  return newest;
}
