import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextMessage, startWorker, stop } from '../support/children.ts';

/** Microseconds of CPU for one request. */
export interface Cost {
  readonly user: number;
  readonly system: number;
}

/**
 * What the governor costs for each request, its state in a file and no limit near: from admission to the observed answer, of
 * each of so many processes that use the state at the same time.
 *
 * @param path of `loop.ts`, as it was built
 */
export async function measureCost(path: string, processes: number, atOnce: number, rounds = 20_000): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-bench-'));
  const workers = Array.from({ length: processes }, () => startWorker(path));
  try {
    for (const worker of workers) worker.send({ folder, rounds: rounds / processes, atOnce });
    await Promise.all(workers.map((worker) => nextMessage(worker, 30_000)));
    for (const worker of workers) worker.send('go');
    const costs = await Promise.all(workers.map((worker) => nextMessage<Cost>(worker, 30_000)));
    const mean = (of: (cost: Cost) => number) => costs.map(of).reduce((sum, value) => sum + value, 0) / processes;
    return { user: mean(({ user }) => user), system: mean(({ system }) => system) };
  } finally {
    await Promise.all(workers.map(stop));
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
