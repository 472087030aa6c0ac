/** A process that sends nothing: it asks the governor again and again, and reports what that costs. */
import { createGovernor } from '../../../src/rate-limit/admission.ts';
import { createSystemClock } from '../../../src/shared/system-clock.ts';
import { createSystemProcesses } from '../../../src/shared/system-processes.ts';
import { openState } from '../../../src/state/open-state.ts';

interface LoopTask {
  readonly folder: string;
  readonly rounds: number;
  readonly atOnce: number;
}

process.once('disconnect', () => process.exit());
process.once('message', async (task: LoopTask) => {
  const loop = await prepare(task.folder);
  await loop(2000, task.atOnce);
  process.send?.({ ready: true });
  process.once('message', async () => {
    const before = process.cpuUsage();
    await loop(task.rounds, task.atOnce);
    const { user, system } = process.cpuUsage(before);
    process.send?.({ user: user / task.rounds, system: system / task.rounds });
  });
});

/** Every answer is of a window that has room for all. */
async function prepare(folder: string): Promise<(rounds: number, atOnce: number) => Promise<void>> {
  const clock = createSystemClock(process.hrtime.bigint);
  const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot(), kill: process.kill });
  const warn = (line: string) => {
    throw new Error(line);
  };
  const { random } = Math;
  const state = await openState({ folder, need: 'limits', clock, processes, random, command: 'bench', warn });
  const governor = createGovernor({
    clock,
    store: state.limits,
    scope: 'abcdef',
    self: processes.self,
    lease: 31_000,
    env: 'bench',
    maxWait: 0,
    random,
    onWait: () => {},
  });
  const { signal } = new AbortController();
  const reset = Math.ceil(Date.now() / 1000) + 50;
  const limit = 100_000_000;
  let remaining = limit;
  return async (rounds, atOnce) => {
    let left = rounds;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        const permit = await governor.admit(signal);
        remaining -= 1;
        await permit.answered({
          status: 200,
          headers: {
            date: new Date().toUTCString(),
            'x-ratelimit-limit': String(limit),
            'x-ratelimit-remaining': String(remaining),
            'x-ratelimit-reset': String(reset),
          },
        });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  };
}
