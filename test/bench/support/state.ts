import type { RunHead } from '../../../src/inventory/run-records.ts';
import { serviceNameOf } from '../../../src/settings/key-and-url.ts';
import { createSystemClock } from '../../../src/shared/clock.ts';
import { createSystemProcesses } from '../../../src/shared/processes.ts';
import { openState } from '../../../src/state/open-state.ts';
import type { State } from '../../../src/state/state.ts';

export const clock = createSystemClock(process.hrtime.bigint);
const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot, kill: process.kill.bind(process) });

/** Opens the state in a folder as a command does. */
export function openBenchState(folder: string): Promise<State> {
  const warn = (line: string) => process.stderr.write(`${line}\n`);
  return openState({ folder, need: 'history', clock, processes, random: Math.random, command: 'bench', warn });
}

export function headOf(baseUrl: string): RunHead {
  const serviceName = serviceNameOf(baseUrl);
  const command = 'inventory apply';
  return {
    command,
    env: 'staging',
    store: undefined,
    baseUrl,
    serviceName,
    scope: 'bench',
    user: 'bench',
    unchanged: 0,
  };
}
