/** A process that sends nothing: it asks the governor again and again, and tells what that costs. */
import { createGovernor } from '../../../src/rate-limit/admission.ts';
import { createFileLedger } from '../../../src/rate-limit/ledger-file.ts';
import { createSystemClock } from '../../../src/shared/system-clock.ts';

interface LoopTask {
  readonly folder: string;
  readonly rounds: number;
  readonly atOnce: number;
}

process.once('disconnect', () => process.exit());
process.once('message', async (task: LoopTask) => {
  const loop = prepare(task.folder);
  await loop(2000, task.atOnce);
  process.send?.({ ready: true });
  process.once('message', async () => {
    const before = process.cpuUsage();
    await loop(task.rounds, task.atOnce);
    const { user, system } = process.cpuUsage(before);
    process.send?.({ user: user / task.rounds, system: system / task.rounds });
  });
});

/** Every answer tells of a window that has room for all. */
function prepare(folder: string): (rounds: number, atOnce: number) => Promise<void> {
  const unique = `bench${process.pid}`;
  const clock = createSystemClock(process.hrtime.bigint);
  const onFallback = (reason: Error) => {
    throw reason;
  };
  const ledger = createFileLedger({ folder, scope: 'abcdef', unique, onFallback });
  const { random } = Math;
  const governor = createGovernor({
    clock,
    ledger,
    unique,
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
        permit.answered({
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
